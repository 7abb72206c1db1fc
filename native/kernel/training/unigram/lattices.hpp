// The lattices of all words, stored as arcs (which pieces match at which place), and the passes
// over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/stop.hpp"
#include "training/unigram/trainer.hpp"

namespace toksmith::unigram {

// An arc is a piece that matches at a place: the number of the piece and, in the low bits, its
// length - 1. Piece 0 is the unknown character; its arcs are where no piece of one character
// matches.
struct ArcFormat {
    unsigned length_bits = 4;

    std::uint32_t arc(std::size_t piece, std::uint32_t length) const {
        return static_cast<std::uint32_t>(piece << length_bits) | (length - 1);
    }
    std::uint32_t piece(std::uint32_t arc) const { return arc >> length_bits; }
    std::uint32_t length(std::uint32_t arc) const { return (arc & ((1u << length_bits) - 1)) + 1; }
    std::size_t most_pieces() const { return std::size_t{1} << (32 - length_bits); }
};

// A block of words. Threads process whole blocks. Sums are computed block by block in a fixed
// order, so they do not depend on the number of threads.
struct Block {
    std::size_t first_word, last_word;   // [first_word, last_word)
    std::uint32_t first_place;           // the place where its first word starts
    std::vector<std::uint32_t> offsets;  // for each place, the index of its first arc; then the end
    std::vector<std::uint32_t> arcs;     // arcs of one place are ordered by length
};

struct Lattices {
    static constexpr unsigned kBlockBits = 16;  // a block has at least 2^16 places

    std::vector<Block> blocks;
    // For each multiple of 2^16: the block that contains this place, or the block before.
    std::vector<std::uint32_t> block_numbers;
    ArcFormat format;

    const Block& block_at(std::uint32_t place) const;
    // The arcs that start at a place of the text.
    const std::uint32_t* begin(const Block& block, std::uint32_t place) const {
        return block.arcs.data() + block.offsets[place - block.first_place];
    }
    const std::uint32_t* end(const Block& block, std::uint32_t place) const {
        return block.arcs.data() + block.offsets[place - block.first_place + 1];
    }
};

// Runs jobs on several threads.
struct Workers {
    std::size_t threads;

    // Calls work(thread, job) for each job, in no fixed order, with an interruption point between
    // jobs.
    void run(std::size_t jobs, const std::function<void(std::size_t, std::size_t)>& work) const;
};

// Enlarges a vector, with interruption points: clearing much memory takes long.
template <typename T>
void grow(std::vector<T>& values, std::size_t size) {
    values.reserve(size);
    InterruptionPoints<(1 << 20)>().in_parts(
        size - values.size(),
        [&](std::size_t first, std::size_t last) { values.resize(values.size() + last - first); });
}

struct Seeds {
    std::vector<Piece> pieces;  // [0] is the unknown character
    Lattices lattices;
};

// The initial pieces: all characters and the best substrings, with their arcs.
Seeds make_seeds(const CountedWords& words, const TrainingOptions& options, const Workers& workers);

// Removes the pieces marked in `dropped`, and renumbers the others.
void drop(const std::vector<std::uint8_t>& dropped, Seeds& seeds, const Workers& workers);

// The score of an unknown character is the lowest score of a piece minus this.
inline constexpr double kUnknownPenalty = 10.0;

struct Expected {
    std::vector<double> counts;  // the expected count of each piece
    double log_likelihood;       // of the whole text
};

// Computes the expected count of each piece over all segmentations of the text (forward-backward).
Expected expect(const CountedWords& words, const Seeds& seeds, const Workers& workers);

// Marks pieces for removal until `size` are left: those whose removal lowers the likelihood least.
std::vector<std::uint8_t> superfluous(const CountedWords& words, const Seeds& seeds,
                                      std::size_t size, const Workers& workers);

}  // namespace toksmith::unigram

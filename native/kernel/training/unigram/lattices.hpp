// The lattices of all words, as arcs (which pieces match where), and the passes over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/unigram/trainer.hpp"

namespace toksmith::unigram {

// An arc: a piece that matches at a place, as its number and, in the low bits, its length - 1.
// Number 0 is the unknown character, where no piece of one character matches.
struct ArcFormat {
    unsigned length_bits = 4;

    std::uint32_t arc(std::size_t piece, std::uint32_t length) const {
        return static_cast<std::uint32_t>(piece << length_bits) | (length - 1);
    }
    std::uint32_t piece(std::uint32_t arc) const { return arc >> length_bits; }
    std::uint32_t length(std::uint32_t arc) const { return (arc & ((1u << length_bits) - 1)) + 1; }
    std::size_t most_pieces() const { return std::size_t{1} << (32 - length_bits); }
};

// Words are processed in blocks, which are shared among threads. Sums are made block by block in a
// fixed order.
struct Block {
    std::size_t first_word, last_word;   // [first_word, last_word)
    std::uint32_t first_place;           // of its first word
    std::vector<std::uint32_t> offsets;  // the first arc of each place of the block, and the end
    std::vector<std::uint32_t> arcs;     // at each place, shorter arcs first
};

struct Lattices {
    static constexpr unsigned kBlockBits = 16;  // a block has at least 2^16 places

    std::vector<Block> blocks;
    // The block at each multiple of 2^16, or the one before.
    std::vector<std::uint32_t> block_numbers;
    ArcFormat format;

    const Block& block_at(std::uint32_t place) const;
    // The arcs at a place of the text.
    const std::uint32_t* begin(const Block& block, std::uint32_t place) const {
        return block.arcs.data() + block.offsets[place - block.first_place];
    }
    const std::uint32_t* end(const Block& block, std::uint32_t place) const {
        return block.arcs.data() + block.offsets[place - block.first_place + 1];
    }
};

// Runs work on several threads.
struct Workers {
    std::size_t threads;

    // Calls work(thread, job) for each job, in no fixed order, with interruption points between
    // jobs.
    void run(std::size_t jobs, const std::function<void(std::size_t, std::size_t)>& work) const;
};

struct Seeds {
    std::vector<Piece> pieces;  // [0] is the unknown character
    Lattices lattices;
};

// All characters and the best substrings, with their arcs.
Seeds make_seeds(const CountedWords& words, const TrainingOptions& options, const Workers& workers);

// Removes the marked pieces, and renumbers the others.
void drop(const std::vector<std::uint8_t>& dropped, Seeds& seeds, const Workers& workers);

// The score of a character that is not a piece is this much below the worst piece.
inline constexpr double kUnknownPenalty = 10.0;

struct Expected {
    std::vector<double> counts;  // the expected count of each piece
    double log_likelihood;       // of the text
};

// The expected count of each piece over all segmentations of the text (forward-backward).
Expected expect(const CountedWords& words, const Seeds& seeds, const Workers& workers);

// Marks the pieces whose removal lowers the likelihood of the text least, so that `size` are left.
std::vector<std::uint8_t> superfluous(const CountedWords& words, const Seeds& seeds,
                                      std::size_t size, const Workers& workers);

}  // namespace toksmith::unigram

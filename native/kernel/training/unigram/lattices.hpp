// The arcs of all words: which pieces stand where; and the passes over them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/unigram/trainer.hpp"

namespace toksmith::unigram {

// A piece at a place: its number, and its length - 1 in the low bits. Number 0 is the unknown
// character, which stands where no piece of one character does (any more).
struct ArcFormat {
    unsigned length_bits = 4;

    std::uint32_t arc(std::size_t piece, std::uint32_t length) const {
        return static_cast<std::uint32_t>(piece << length_bits) | (length - 1);
    }
    std::uint32_t piece(std::uint32_t arc) const { return arc >> length_bits; }
    std::uint32_t length(std::uint32_t arc) const { return (arc & ((1u << length_bits) - 1)) + 1; }
    std::size_t most_pieces() const { return std::size_t{1} << (32 - length_bits); }
};

// Words are worked on in blocks: what the threads share out among them, and what sums are made of
// in a fixed order.
struct Block {
    std::size_t first_word, last_word;   // last excluded
    std::uint32_t first_place;           // of its first word in the text
    std::vector<std::uint32_t> offsets;  // of the first arc at each place of the block; and the end
    std::vector<std::uint32_t> arcs;     // at a place, shorter ones first
};

struct Lattices {
    static constexpr unsigned kBlockBits = 16;  // a block has at least so many places: 2^16

    std::vector<Block> blocks;
    std::vector<std::uint32_t> block_numbers;  // of the block at each multiple of 2^16, or before
    ArcFormat format;

    const Block& block_at(std::uint32_t place) const;
    // Arcs at a place of the text.
    const std::uint32_t* begin(const Block& block, std::uint32_t place) const {
        return block.arcs.data() + block.offsets[place - block.first_place];
    }
    const std::uint32_t* end(const Block& block, std::uint32_t place) const {
        return block.arcs.data() + block.offsets[place - block.first_place + 1];
    }
};

// How to do work in parallel.
struct Workers {
    std::size_t threads;

    // Calls work(thread, job) for each job, in no fixed order, with interruption points between.
    void run(std::size_t jobs, const std::function<void(std::size_t, std::size_t)>& work) const;
};

struct Seeds {
    std::vector<Piece> pieces;  // [0] is the unknown character
    Lattices lattices;
};

// All characters and the best substrings, with their arcs.
Seeds make_seeds(const CountedWords& words, const TrainingOptions& options, const Workers& workers);

// Leaves out the pieces that are marked so; the numbers of the others close up.
void drop(const std::vector<std::uint8_t>& dropped, Seeds& seeds, const Workers& workers);

// A character that is no piece scores this much less than the worst piece.
inline constexpr double kUnknownPenalty = 10.0;

struct Expected {
    std::vector<double> counts;  // of each piece
    double log_likelihood;       // of the text
};

// How often each piece is expected in the text, over all ways to write it (forward-backward).
Expected expect(const CountedWords& words, const Seeds& seeds, const Workers& workers);

// Marks the pieces whose loss costs the text least, so that `size` are left.
std::vector<std::uint8_t> superfluous(const CountedWords& words, const Seeds& seeds,
                                      std::size_t size, const Workers& workers);

}  // namespace toksmith::unigram

// Pieces, and words and pieces with their arcs (which pieces match where), in tries.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/unigram/trainer.hpp"
#include "training/unigram/trie_store.hpp"
#include "training/unigram/workers.hpp"

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

// The pieces, and where they match.
struct Seeds {
    std::vector<std::uint32_t> spelled;  // the characters of the pieces, plus 1
    std::vector<Piece> pieces;           // [0] is the unknown character
    // First the words, then the pieces; in blocks that do not depend on the number of threads.
    TrieStore tries;
    std::size_t words = 0;  // the number of blocks of words
    ArcFormat format;
};

// Finds the initial pieces: all characters and the best substrings. Frees what only this needs.
Seeds find_seeds(WordStore& words, const TrainingOptions& options, const Workers& workers);

// Makes the tries. Blocks of more than `memory` bytes go to the file of the words, if there is one;
// the tables that this needs are counted there, too. Frees the words.
void write_tries(WordStore& words, std::size_t memory, const Workers& workers, Seeds& seeds);

// Removes the pieces marked in `dropped`, and renumbers the others.
void drop(const std::vector<std::uint8_t>& dropped, Seeds& seeds, const Workers& workers);

}  // namespace toksmith::unigram

// The words and the pieces with their arcs (which pieces match where), in tries.
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

// Strings in order, as a trie. A string has a node for each character that comes after the prefix
// it shares with the string before. A node has the arcs that end there, the shortest first: one of
// length 1, which shows where the arcs of a node begin.
struct Trie {
    struct String {
        std::uint32_t end;     // of the arcs of its nodes, in `arcs`
        std::uint32_t shared;  // the length of the prefix that it shares with the string before
        std::uint64_t value;   // the count of a word; the number of a piece, or 0
    };
    std::vector<std::uint32_t> arcs;
    std::vector<String> strings;

    // Ends a string. Throws std::length_error if there are too many arcs.
    void end(std::uint32_t shared, std::uint64_t value);
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
    std::vector<std::uint32_t> spelled;  // the characters of the pieces, plus 1
    std::vector<Piece> pieces;           // [0] is the unknown character
    // In blocks that do not depend on the number of threads.
    std::vector<Trie> words;
    std::vector<Trie> spellings;  // of the pieces
    ArcFormat format;
};

// The initial pieces: all characters and the best substrings, with their arcs.
Seeds make_seeds(CountedWords words, const TrainingOptions& options, const Workers& workers);

// Removes the pieces marked in `dropped`, and renumbers the others.
void drop(const std::vector<std::uint8_t>& dropped, Seeds& seeds, const Workers& workers);

// The score of an unknown character is the lowest score of a piece minus this.
inline constexpr double kUnknownPenalty = 10.0;

// The score of an unknown character.
double unknown_score(const std::vector<Piece>& pieces);

struct Expected {
    std::vector<double> counts;  // the expected count of each piece
    double log_likelihood;       // of the whole text
};

// Computes the expected count of each piece over all segmentations of the text (forward-backward).
// `characters` is the number of characters of the text.
Expected expect(const Seeds& seeds, double characters, const Workers& workers);

// Marks pieces for removal until `size` are left: those whose removal lowers the likelihood least.
std::vector<std::uint8_t> superfluous(const Seeds& seeds, std::size_t size, const Workers& workers);

}  // namespace toksmith::unigram

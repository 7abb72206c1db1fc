// Trains Unigram pieces on counted words by expectation maximization and pruning.
// reference/unigram_training.py explains the algorithm.
//
// A suffix array finds the seeds, and for each place of the text the longest seed that matches
// there. From these, the pieces that match at each place ("arcs") are computed once; afterwards
// arcs are only removed. Words are sorted, and arcs in a prefix that words share are stored once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/piece_rules.hpp"
#include "training/training.hpp"

namespace toksmith::unigram {

struct TrainingOptions {
    std::size_t seeds = 1'000'000;   // the number of initial substrings
    std::size_t enough = 8'800;      // pruning stops at this number of pieces
    double shrinking_factor = 0.75;  // the share of pieces that one pruning keeps
    std::size_t sub_iterations = 2;  // rounds of expectation and maximization between prunings
    std::size_t threads = 1;         // the result does not depend on it
    bpe::PieceRules rules;
};

// Distinct words, sorted by their characters. Characters are numbered in the order of their code
// points.
struct CountedWords {
    std::vector<std::uint32_t> text;         // a 0; then each word's characters, plus 1, and a 0
    std::vector<std::uint32_t> starts;       // the start of each word in `text`
    std::vector<std::uint64_t> counts;       // the count of each word
    std::vector<bpe::PieceTraits> alphabet;  // the properties of each character

    std::uint32_t end(std::size_t word) const {  // the place of the 0
        const bool is_last = word + 1 == starts.size();
        return (is_last ? static_cast<std::uint32_t>(text.size()) : starts[word + 1]) - 1;
    }
};

// Cuts words where no piece can cross, and sorts the parts. Throws std::length_error if they have
// 2^32 - 1 or more characters.
CountedWords cut_words(const bpe::CountedSymbols& words, std::vector<bpe::PieceTraits> alphabet,
                       const bpe::PieceRules& rules);

struct Piece {
    std::uint32_t place;   // where the text spells it
    std::uint32_t length;  // in characters
    double score;          // the natural logarithm of its probability
};

struct Progress {
    std::size_t rounds;     // rounds of expectation and maximization so far
    std::size_t pieces;     // pieces that are left
    double log_likelihood;  // before the maximization of this round
};

// Called after each round.
using Watch = std::function<void(const Progress&)>;

struct Pieces {
    std::vector<std::uint32_t> text;  // the characters of the pieces, plus 1
    std::vector<Piece> pieces;        // single characters first
};

// Returns the pieces after the last round. Frees the words early. Has interruption points. Throws
// std::length_error if there are too many seeds for the maximum piece length.
Pieces train(CountedWords words, const TrainingOptions& options, const Watch& watch);

}  // namespace toksmith::unigram

// Trains Unigram pieces on counted words by expectation maximization and pruning.
// reference/unigram_training.py explains the algorithm.
//
// Every candidate piece occurs in the words, so it is stored as a place and a length. The pieces
// that match in a word ("arcs") are computed once, from the seeds; afterwards arcs are only
// removed. The alternative segmentations of a piece are paths of arcs from its place on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/piece_rules.hpp"
#include "training/segments.hpp"
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

// Distinct words. Characters are numbered in the order of their code points.
struct CountedWords {
    std::vector<std::uint32_t> text;         // each word's characters, plus 1; then a 0
    std::vector<std::uint32_t> starts;       // the start of each word in `text`
    std::vector<std::uint64_t> counts;       // the count of each word
    std::vector<bpe::PieceTraits> alphabet;  // the properties of each character

    std::uint32_t end(std::size_t word) const {  // the place of the 0
        const bool is_last = word + 1 == starts.size();
        return (is_last ? static_cast<std::uint32_t>(text.size()) : starts[word + 1]) - 1;
    }
};

// Throws std::length_error if the words have 2^32 - 1 or more characters.
CountedWords spaced_apart(const bpe::Segments& words, std::vector<bpe::PieceTraits> alphabet);

struct Piece {
    std::uint32_t place;   // of its first occurrence in the text
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

// The pieces after the last round, single characters first. Has interruption points. Throws
// std::length_error if there are too many seeds for the maximum piece length.
std::vector<Piece> train(const CountedWords& words, const TrainingOptions& options,
                         const Watch& watch);

}  // namespace toksmith::unigram

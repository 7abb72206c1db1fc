// Trains Unigram pieces on counted words: seeds, expectation and maximization, pruning.
// reference/unigram_training.py explains the algorithm.
//
// Every piece ever considered occurs in the words, so a piece is a place and a length. The pieces
// that match in a word ("arcs") are written once, with the seeds, and afterwards only lose entries;
// the other segmentations of a piece are found among the arcs at its place.
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
    std::size_t seeds = 1'000'000;   // initial substrings
    std::size_t enough = 8'800;      // pruning stops at this number of pieces
    double shrinking_factor = 0.75;  // the share of the pieces that one pruning keeps
    std::size_t sub_iterations = 2;  // rounds of expectation and maximization between prunings
    std::size_t threads = 1;         // the result does not depend on their number
    bpe::PieceRules rules;
};

// Distinct words. Characters are numbers in the order of their code points.
struct CountedWords {
    std::vector<std::uint32_t> text;         // each word's characters + 1, and a 0 after each word
    std::vector<std::uint32_t> starts;       // the start of each word in `text`
    std::vector<std::uint64_t> counts;       // of each word
    std::vector<bpe::PieceTraits> alphabet;  // of each character

    std::uint32_t end(std::size_t word) const {  // the place of the 0
        const bool is_last = word + 1 == starts.size();
        return (is_last ? static_cast<std::uint32_t>(text.size()) : starts[word + 1]) - 1;
    }
};

// Throws std::length_error if the words come to 2^32 - 1 characters or more.
CountedWords spaced_apart(const bpe::Segments& words, std::vector<bpe::PieceTraits> alphabet);

struct Piece {
    std::uint32_t place;   // its first place in the text
    std::uint32_t length;  // in characters
    double score;          // the logarithm of its probability
};

struct Progress {
    std::size_t rounds;     // rounds of expectation and maximization
    std::size_t pieces;     // pieces that are left
    double log_likelihood;  // before this round's maximization
};

// Called after each round. The training has interruption points.
using Watch = std::function<void(const Progress&)>;

// The pieces after the last round, characters first. Throws std::length_error if there are too many
// seeds for their length.
std::vector<Piece> train(const CountedWords& words, const TrainingOptions& options,
                         const Watch& watch);

}  // namespace toksmith::unigram

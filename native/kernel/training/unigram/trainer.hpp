// Trains Unigram pieces on counted words by expectation maximization and pruning.
// reference/unigram_training.py explains the algorithm.
//
// Sorted suffixes show the seeds: the substrings that occur most. The pieces that match at each
// place of the words ("arcs") are computed once; afterwards arcs are only removed. Words are
// sorted, and arcs in a prefix that words share are stored once. Words, suffixes and arcs lie in
// memory or, beyond a limit, in a file; the result does not depend on it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/unigram/words.hpp"

namespace toksmith::unigram {

struct TrainingOptions {
    std::size_t seeds = 1'000'000;   // the number of initial substrings
    std::size_t enough = 8'800;      // pruning stops at this number of pieces
    double shrinking_factor = 0.75;  // the share of pieces that one pruning keeps
    std::size_t sub_iterations = 2;  // rounds of expectation and maximization between prunings
};

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

// Where a training stands after a pruning.
struct State {
    std::size_t rounds = 0;
    Pieces pieces;
};

// Called before the first round and after each pruning. `spelled`, `pieces`: as in Pieces, after an
// unknown piece.
using Keep = std::function<void(std::size_t rounds, const std::vector<std::uint32_t>& spelled,
                                const std::vector<Piece>& pieces)>;

// Returns the pieces after the last round. Frees the words early. Has interruption points. Throws
// std::length_error if there are too many seeds for the maximum piece length. `start`: where to go
// on from; null: at the start; std::invalid_argument if its scores cannot be those of a training.
// Either function may be empty.
Pieces train(WordStore& words, const TrainingOptions& options, const State* start,
             const Watch& watch, const Keep& keep);

// An estimate of the memory in bytes that training needs at least for a number of pieces.
std::uint64_t least_memory(std::uint64_t pieces);

}  // namespace toksmith::unigram

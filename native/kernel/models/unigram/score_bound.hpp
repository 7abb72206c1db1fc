// Computes the sums for which the best segmentation of a chunk is certain.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/model.hpp"

namespace toksmith::unigram {

// SentencePiece resets the sum of the best path to 0 if it is further from 0 than this.
inline constexpr double kResetSum = 100'000;

// The maximum rounding error of one addition to a sum below kResetSum.
inline constexpr double kRounding = 0.01;

template <typename Real>
struct Margin {
    Real gap;                 // the smallest difference from the second-best path
    Real weight = 0;          // the sum of the absolute scores
    Real deepest = 0;         // the largest absolute sum at the start of a character
    bool is_additive = true;  // add() can compute the sum from the ids
    bool whole = true;        // the sum was never reset
    std::size_t characters = 0;

    void add(Real ahead, Real score, bool sums) {
        gap = std::min(gap, ahead);
        weight += std::abs(score);
        is_additive &= sums;
    }
};

// The costs of a model's pieces.
struct Costs {
    double unknown;          // the score of an unknown character
    double highest;          // the highest score of any piece that matches text
    double pieces_per_cost;  // the most pieces per unit of cost, if `highest` is below 0
};

// The bound of a segmentation that was found with a sum of 0 before the chunk.
template <typename Real>
CarriedScoreModel::ScoreBound score_bound_of(const Margin<Real>& margin, const Costs& costs);

extern template CarriedScoreModel::ScoreBound score_bound_of(const Margin<float>&, const Costs&);
extern template CarriedScoreModel::ScoreBound score_bound_of(const Margin<double>&, const Costs&);

}  // namespace toksmith::unigram

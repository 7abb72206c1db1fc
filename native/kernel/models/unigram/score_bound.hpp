// How sure a best way is, and behind which sums it may be relied on.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>

#include "models/model.hpp"

namespace toksmith::unigram {

// When the sum of the best way to a place is further from 0 than this, SentencePiece starts anew
// from 0 there.
inline constexpr double kFar = 100'000;

// By how much adding a number to a sum that is no further from 0 can be off.
inline constexpr double kRounding = 0.01;

template <typename Real>
struct Margin {
    Real gap;                 // the least by which it was better where it stands
    Real weight = 0;          // the sum of its scores, each away from 0
    Real deepest = 0;         // of the best sums before the characters, away from 0
    bool is_additive = true;  // whether add() tells its sum
    bool whole = true;        // the sum never started anew
    std::size_t characters = 0;

    void add(Real ahead, Real score, bool sums) {
        gap = std::min(gap, ahead);
        weight += std::abs(score);
        is_additive &= sums;
    }
};

// What a model's pieces cost.
struct Costs {
    double unknown;          // the score of an unknown character
    double highest;          // of any piece of text
    double pieces_per_cost;  // at most, where `highest` is below 0
};

// Of a way that was found behind 0.
template <typename Real>
CarriedScoreModel::ScoreBound score_bound_of(const Margin<Real>& margin, const Costs& costs);

extern template CarriedScoreModel::ScoreBound score_bound_of(const Margin<float>&, const Costs&);
extern template CarriedScoreModel::ScoreBound score_bound_of(const Margin<double>&, const Costs&);

}  // namespace toksmith::unigram

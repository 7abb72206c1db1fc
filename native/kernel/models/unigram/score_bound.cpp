#include "models/unigram/score_bound.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace toksmith::unigram {
namespace {

// How many pieces may be added before roundings, of 1/256 each at kFar, could come to 1 for two
// ways.
constexpr double kFew = 64;

// How many of its last units a power of two has.
template <typename Real>
constexpr auto kUnits =
    static_cast<double>(std::uint64_t{1} << (std::numeric_limits<Real>::digits - 1));

// The largest power of two that is not above a number; the number is positive.
double power_below(double number) {
    constexpr std::uint64_t kExponent = 0x7FF0000000000000;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) & kExponent);
}

}  // namespace

// Adding to a sum that stays below 2^L is off by at most half a unit, 2^(L - digits - 1). Behind
// such sums, two ways of at most n pieces each move by no more than 2 n of these against each
// other, from where they stand in real numbers; and the gap between them was found in small sums,
// which are off as well, though hardly. No rounding turns a gap that is larger than all that. Nor
// must the sum start anew inside the chunk.
//
// Where every piece costs something, a way of many pieces costs much: what costs 1 more than the
// best way is lost anyway, since even 2 n roundings come to less; and all others have few pieces,
// and add up to hardly more than it.
template <typename Real>
CarriedScoreModel::ScoreBound score_bound_of(const Margin<Real>& margin, const Costs& costs) {
    using ScoreBound = CarriedScoreModel::ScoreBound;
    const auto characters = static_cast<double>(margin.characters);
    const double weight = 1 + static_cast<double>(margin.weight) + kRounding * characters;
    if (!margin.whole || !(margin.gap > 0) || !(weight < ScoreBound::kMostWeight)) return {};
    // Of any way that may come close: its pieces, and how far from 0 its sums are.
    double pieces = characters;
    double deepest = (characters + 1) * (std::abs(costs.unknown) + std::max(0.0, costs.highest));
    double reach = deepest;
    if (costs.highest < 0 && characters <= kFew && deepest <= kFar / 4) {
        pieces = std::min(pieces, (weight + 1) * costs.pieces_per_cost);
        deepest = weight + 1;
        reach = static_cast<double>(margin.deepest) + 1;
    }
    const double units = static_cast<double>(margin.gap) / (2 * pieces) - deepest / kUnits<Real>;
    if (!(units > 0)) return {};
    const double most = power_below(units) * 4 * kUnits<Real>;
    // Of the sum behind the chunk, to which its weight was added.
    const double limit = weight + std::min(most - deepest, kFar - reach);
    return {.weight = static_cast<std::uint32_t>(weight) + 1,
            .limit = static_cast<std::uint32_t>(
                std::clamp(limit / ScoreBound::kStep, 0.0, double{ScoreBound::kMostLimit})),
            .is_additive = margin.is_additive};
}

template CarriedScoreModel::ScoreBound score_bound_of(const Margin<float>&, const Costs&);
template CarriedScoreModel::ScoreBound score_bound_of(const Margin<double>&, const Costs&);

}  // namespace toksmith::unigram

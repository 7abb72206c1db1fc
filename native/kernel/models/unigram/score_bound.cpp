#include "models/unigram/score_bound.hpp"

#include <bit>
#include <cstdint>
#include <limits>

namespace toksmith::unigram {
namespace {

// The number of pieces whose rounding errors, at most 1/256 each near kResetSum, add up to less
// than 1 for two paths.
constexpr double kFew = 64;

// A power of two in ulps (units in the last place) of the numbers just below it.
template <typename Real>
constexpr auto kUnits =
    static_cast<double>(std::uint64_t{1} << (std::numeric_limits<Real>::digits - 1));

// The largest power of two that is at most `number`, which is positive.
double power_below(double number) {
    constexpr std::uint64_t kExponent = 0x7FF0000000000000;
    return std::bit_cast<double>(std::bit_cast<std::uint64_t>(number) & kExponent);
}

}  // namespace

// Error bound. Each float addition to a sum below 2^L has an error of at most half an ulp, 2^(L -
// digits - 1). Two segmentations of at most n pieces can therefore drift apart by at most 2n such
// errors, plus the small error in the gap itself, which was measured near 0. If the gap between the
// best and the second-best segmentation exceeds that, rounding cannot swap them. The bound is also
// void if the sum crosses SentencePiece's reset threshold inside the chunk.
//
// If every piece has a negative score, segmentations with many pieces lose by more than 1 anyway,
// so n can be bounded by cost instead of by length.
template <typename Real>
CarriedScoreModel::ScoreBound score_bound_of(const Margin<Real>& margin, const Costs& costs) {
    using ScoreBound = CarriedScoreModel::ScoreBound;
    const auto characters = static_cast<double>(margin.characters);
    const double weight = 1 + static_cast<double>(margin.weight) + kRounding * characters;
    if (!margin.whole || !(margin.gap > 0) || !(weight < ScoreBound::kMostWeight)) return {};
    // Any competitive path has at most this number of pieces, and this absolute sum.
    double pieces = characters;
    double deepest = (characters + 1) * (std::abs(costs.unknown) + std::max(0.0, costs.highest));
    double reach = deepest;
    if (costs.highest < 0 && characters <= kFew && deepest <= kResetSum / 4) {
        pieces = std::min(pieces, (weight + 1) * costs.pieces_per_cost);
        deepest = weight + 1;
        reach = static_cast<double>(margin.deepest) + 1;
    }
    const double units = static_cast<double>(margin.gap) / (2 * pieces) - deepest / kUnits<Real>;
    if (!(units > 0)) return {};
    const double most = power_below(units) * 4 * kUnits<Real>;
    // The limit of the sum after the chunk.
    const double limit = weight + std::min(most - deepest, kResetSum - reach);
    return {.weight = static_cast<std::uint32_t>(weight) + 1,
            .limit = static_cast<std::uint32_t>(
                std::clamp(limit / ScoreBound::kStep, 0.0, double{ScoreBound::kMostLimit})),
            .is_additive = margin.is_additive};
}

template CarriedScoreModel::ScoreBound score_bound_of(const Margin<float>&, const Costs&);
template CarriedScoreModel::ScoreBound score_bound_of(const Margin<double>&, const Costs&);

}  // namespace toksmith::unigram

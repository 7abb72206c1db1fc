// Viterbi for short chunks, which nearly all chunks are, without unpredictable branches. Most walks
// through the trie end within three bytes, so every walk takes three steps. A walk that has ended
// passes no token: its scores are -infinity.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>

#include "models/unigram/writer.hpp"
#include "utf8/decode.hpp"

namespace toksmith::unigram {
namespace {

constexpr float kNowhere = -std::numeric_limits<float>::infinity();
constexpr std::size_t kUnknownPlace = 0xFFFFFF;  // above all places of the trie

// The best path up to a place, and the sum of the second-best. The sum, the length of the last
// piece, and the place of that piece in the trie are packed into one number: the larger, the
// better. If sums are equal, the path with the longer last piece wins.
struct ShortCell {
    float sum, second;
    std::int64_t step;
};

std::int64_t step_of(float sum, std::size_t start, std::size_t place) {
    const auto bits = std::bit_cast<std::int32_t>(sum);
    const std::int64_t ordered = bits ^ (bits >> 31 & 0x7FFFFFFF);
    return ordered << 32 | static_cast<std::int64_t>((kShort - start) << 24 | place);
}

}  // namespace

template <>
void UnigramModel<float>::prepare_for_short() {
    bool finite = std::isfinite(unknown_score_);
    place_scores_.assign(trie_.places(), kNowhere);
    for (std::size_t place = 0; place < trie_.places(); ++place) {
        if (!trie_.has_token(place)) continue;
        place_scores_[place] = scores_[trie_.token(place)];
        finite &= std::isfinite(place_scores_[place]);
    }
    const float inside = kShort * (std::abs(unknown_score_) + std::max(0.0f, highest_score_));
    if (finite && options_.unk != kNone)
        most_before_short_ = static_cast<float>(kResetSum - 1) - inside;
}

template <>
std::unique_ptr<LaneViterbiTable> UnigramModel<float>::make_lane_viterbi(
    const LaneTexts& texts) const {
    if (!texts.is_complete || most_before_short_ < 0) return nullptr;
    for (std::size_t place = 0; place < trie_.places(); ++place) {
        if (trie_.has_token(place) && trie_.token(place) == options_.unk) return nullptr;
    }
    return std::make_unique<LaneViterbiTable>(trie_, place_scores_, texts, costs());
}

template <>
std::unique_ptr<LaneViterbiTable> UnigramModel<double>::make_lane_viterbi(const LaneTexts&) const {
    return nullptr;
}

template <>
float UnigramModel<float>::viterbi_short(const std::uint8_t* text, std::size_t size, float sum,
                                         IdArray& out, IdArray* spans,
                                         Margin<float>* margin) const {
    // The bytes after the chunk may match pieces as well, but the best path never includes them.
    constexpr std::size_t kPadding = 3;
    std::array<std::uint8_t, kShort + kPadding> chunk;
    std::array<ShortCell, kShort + kPadding> best;
    std::memcpy(chunk.data(), text, size);
    std::memset(chunk.data() + size, 0, kPadding);
    best[0] = {sum, sum, 0};
    for (std::size_t i = 1; i < size + kPadding; ++i) {
        best[i] = {kNowhere, kNowhere, std::numeric_limits<std::int64_t>::min()};
    }
    const float* const scores = place_scores_.data();
    float deepest = 0;
    std::size_t characters = 0;
    for (std::size_t start = 0; start < size; ++characters) {
        const std::uint8_t* const p = chunk.data() + start;
        const float before = best[start].sum;
        const auto reach = [&](std::size_t length, float score, std::size_t place) {
            ShortCell& cell = best[start + length];
            const float after = before + score;
            cell.second = std::max(cell.second, std::min(cell.sum, after));
            cell.sum = std::max(cell.sum, after);
            cell.step = std::max(cell.step, step_of(after, start, place));
        };
        const auto take = [&](std::size_t length, std::size_t place) {
            reach(length, scores[place], place);
            return scores[place];
        };
        deepest = std::max(deepest, std::abs(before));
        ByteTrie::Walk walk(trie_);
        const float one = take(1, walk.step(p[0]));
        const float two = take(2, walk.step(p[1]));
        const float three = take(3, walk.step(p[2]));
        if (walk.goes()) {
            std::size_t place;
            ByteTrie::Node node = walk.node();
            for (std::size_t length = 3;
                 start + length < size && trie_.step(node, p[length], place);) {
                take(++length, place);
            }
        }
        const std::size_t character = utf8::length_by_lead(*p, size - start);
        const bool known = character == 1   ? one > kNowhere
                           : character == 2 ? two > kNowhere
                           : character == 3 ? three > kNowhere
                                            : trie_.find(p, character) != kNone;
        if (!known) reach(character, unknown_score_, kUnknownPlace);
        start += character;
    }

    std::array<std::uint8_t, kShort> ends;
    std::size_t pieces = 0;
    for (std::size_t end = size; end > 0; end = kShort - (best[end].step >> 24 & 0xFF)) {
        ends[pieces++] = static_cast<std::uint8_t>(end);
    }
    Writer writer(*this, chunk.data(), out, spans);
    bool after_unknown = false;
    for (std::size_t start = 0; pieces > 0;) {
        const std::size_t end = ends[--pieces];
        const ShortCell& cell = best[end];
        const auto place = static_cast<std::size_t>(cell.step & 0xFFFFFF);
        const bool known = place != kUnknownPlace;
        writer.piece(known ? trie_.token(place) : options_.unk, start, end);
        start = end;
        if (!margin) continue;
        margin->add(cell.sum - cell.second, known ? scores[place] : unknown_score_,
                    known || (sums_unknown_ && !after_unknown));
        after_unknown = !known;
    }
    writer.finish();
    if (margin) {
        margin->characters = characters;
        margin->deepest = deepest;
    }
    return best[size].sum;
}

}  // namespace toksmith::unigram

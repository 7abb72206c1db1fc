#include "models/unigram/model.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "base/stop.hpp"
#include "models/unigram/add_in_order.hpp"
#include "models/unigram/unknown_penalty.hpp"
#include "models/unigram/writer.hpp"
#include "utf8/decode.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::unigram {
namespace {

// If no piece crosses a place, the best path up to it is final and its pieces can be written. So
// memory is bounded by the longest stretch without such a place; at least kSettling cells are kept.
constexpr std::size_t kSettling = 256;

template <typename Real>
bool stands_for_text(PieceType type) {
    return !kSentencePiece<Real> || type == PieceType::kNormal || type == PieceType::kUserDefined;
}

template <typename Real>
ByteTrie trie_of(const Vocabulary& vocabulary, const std::vector<double>& scores,
                 const std::vector<std::uint8_t>& types) {
    if (scores.size() != vocabulary.size() || types.size() != vocabulary.size()) {
        throw std::invalid_argument("each piece needs a score and a type");
    }
    std::vector<ByteTrie::Entry> entries;
    for (std::size_t id = 0; id < vocabulary.size(); ++id) {
        if (!stands_for_text<Real>(static_cast<PieceType>(types[id]))) continue;
        entries.push_back({vocabulary[static_cast<Id>(id)], static_cast<Id>(id)});
    }
    return ByteTrie(std::move(entries));
}

}  // namespace

template <typename Real>
UnigramModel<Real>::UnigramModel(const Vocabulary& vocabulary, const std::vector<double>& scores,
                                 const std::vector<std::uint8_t>& types, Options options)
    : trie_(trie_of<Real>(vocabulary, scores, types)),
      byte_ids_(byte_ids(vocabulary)),
      options_(options) {
    if (options.unk != kNone && options.unk >= vocabulary.size()) {
        throw std::invalid_argument("the unknown piece has no such id");
    }
    if (options.byte_fallback && std::ranges::find(byte_ids_, kNone) != byte_ids_.end()) {
        throw std::invalid_argument("byte_fallback lacks the piece of a byte");
    }
    Real worst = kSentencePiece<Real> ? std::numeric_limits<Real>::max()
                                      : std::numeric_limits<Real>::infinity();
    for (std::size_t id = 0; id < scores.size(); ++id) {
        Real score = static_cast<Real>(scores[id]);
        const auto type = static_cast<PieceType>(types[id]);
        if (!kSentencePiece<Real> || type == PieceType::kNormal) worst = std::min(worst, score);
        if (kSentencePiece<Real> && type == PieceType::kUserDefined) {
            const double length = static_cast<double>(vocabulary.length(static_cast<Id>(id)));
            score = static_cast<Real>(0.1 * (length - 1));  // higher than any log probability
        }
        scores_.push_back(score);
        any_above_zero_ |= score > 0;
        if (stands_for_text<Real>(type)) highest_score_ = std::max(highest_score_, score);
    }
    unknown_score_ = worst - static_cast<Real>(kUnknownPenalty);
    if (options.unk != kNone && !options.byte_fallback &&
        !stands_for_text<Real>(static_cast<PieceType>(types[options.unk]))) {
        scores_[options.unk] = unknown_score_;
        any_above_zero_ |= unknown_score_ > 0;
        sums_unknown_ = true;
    }
    if constexpr (kSentencePiece<Real>) prepare_for_short();
    for (std::size_t id = 0; id < vocabulary.size(); ++id) {
        longest_ = std::max(longest_, vocabulary.length(static_cast<Id>(id)));
    }
}

template <typename Real>
std::unique_ptr<Model::Scratch> UnigramModel<Real>::scratch() const {
    return std::make_unique<Scratch>();
}

template <typename Real>
void UnigramModel<Real>::encode_chunk(const std::uint8_t* chunk, std::size_t size,
                                      Model::Scratch& scratch, IdArray& out, IdArray* spans) const {
    viterbi(chunk, size, scratch, 0, out, spans, nullptr);
}

template <typename Real>
CarriedScoreModel::ScoreBound UnigramModel<Real>::encode_with_bound(const std::uint8_t* chunk,
                                                                    std::size_t size,
                                                                    Model::Scratch& scratch,
                                                                    IdArray& out) const {
    Margin<Real> margin{.gap = std::numeric_limits<Real>::infinity()};
    viterbi(chunk, size, scratch, 0, out, nullptr, &margin);
    return score_bound_of(margin, costs());
}

template <typename Real>
float UnigramModel<Real>::add(float sum, const Id* ids, std::size_t count) const {
    const auto score = [this, ids](std::size_t i) { return static_cast<float>(scores_[ids[i]]); };
    if (!any_above_zero_) return add_in_order(sum, count, score);
    for (std::size_t i = 0; i < count; ++i) sum += score(i);
    return sum;
}

template <typename Real>
void UnigramModel<Real>::encode_after_sum(const std::uint8_t* chunk, std::size_t size,
                                          Model::Scratch& scratch, float& sum, IdArray& out,
                                          IdArray* spans) const {
    sum = static_cast<float>(
        viterbi(chunk, size, scratch, static_cast<Real>(sum), out, spans, nullptr));
}

template <typename Real>
Real UnigramModel<Real>::viterbi(const std::uint8_t* chunk, std::size_t size,
                                 Model::Scratch& memory, Real sum, IdArray& out, IdArray* spans,
                                 Margin<Real>* margin) const {
    if constexpr (kSentencePiece<Real>) {
        if (size <= kShort && std::abs(sum) <= most_before_short_) {
            return viterbi_short(chunk, size, sum, out, spans, margin);
        }
    }
    check_chunk_size(size);
    auto& scratch = static_cast<Scratch&>(memory);
    std::vector<Cell>& cells = scratch.cells;
    std::vector<std::uint32_t>& path = scratch.path;
    Writer writer(*this, chunk, out, spans);
    // best[i] is the cell of place `settled` + i. Cells up to `ready` are initialized. Pieces reach
    // up to `furthest`.
    constexpr Real kNowhere = -std::numeric_limits<Real>::infinity();
    if (cells.empty()) cells.resize(longest_ * 2 + 2 * kSettling);
    Cell* best = cells.data();
    best[0] = {sum, sum, 0, kNone};
    std::size_t settled = 0, ready = 0, furthest = 0;
    bool after_unknown = false;

    const auto reach = [&](std::size_t start, std::size_t end, Real score, Id id) {
        Cell& cell = best[end - settled];
        // Without branches: which path is better is unpredictable.
        const bool better = score > cell.score || cell.length == 0;
        cell.second = std::max(cell.second, better ? cell.score : score);
        cell.score = better ? score : cell.score;
        cell.length = better ? static_cast<std::uint32_t>(end - start) : cell.length;
        cell.id = better ? id : cell.id;
        furthest = std::max(furthest, end);
    };
    const auto settle = [&](std::size_t place) {
        path.clear();
        for (std::size_t i = place - settled; i > 0; i -= best[i].length) {
            path.push_back(static_cast<std::uint32_t>(i));
        }
        for (std::size_t i = path.size(); i-- > 0;) {
            const Cell& cell = best[path[i]];
            const std::size_t end = settled + path[i];
            writer.piece(cell.id, end - cell.length, end);
            if (!margin) continue;
            const bool known = cell.id != options_.unk;
            margin->add(cell.score - cell.second, known ? scores_[cell.id] : unknown_score_,
                        known || (sums_unknown_ && !after_unknown));
            after_unknown = !known;
        }
        best[0].score = best[place - settled].score;
        settled = ready = place;
    };

    InterruptionPoints<std::size_t{1} << 14> points;
    for (std::size_t start = 0; start < size;) {
        points.step();
        if (start == furthest && start - settled > kSettling) settle(start);
        if (start - settled + longest_ >= cells.size()) {
            cells.resize(cells.size() * 2);
            best = cells.data();
        }
        for (const std::size_t last = std::min(start + longest_, size); ready < last;) {
            best[++ready - settled] = {kNowhere, kNowhere, 0, kNone};
        }
        Real score = best[start - settled].score;
        if (kSentencePiece<Real> && std::abs(score) > static_cast<Real>(kResetSum)) {
            for (std::size_t i = start; i <= furthest; ++i) best[i - settled].score -= score;
            score = 0;
            if (margin) margin->whole = false;
        }
        const std::size_t next = start + utf8::length_by_lead(chunk[start], size - start);
        bool is_character = false;
        const auto walk = [&](auto inside) {
            ByteTrie::Node node = trie_.root();
            std::size_t place = 0;
            for (std::size_t end = start; inside(end) && trie_.step(node, chunk[end], place);) {
                ++end;
                if (!ByteTrie::ends_token(node)) continue;
                const Id id = trie_.token(place);
                is_character |= end == next;
                reach(start, end, score + scores_[id], id);
            }
        };
        if (size - start > longest_) {
            walk([](std::size_t) { return true; });  // the walk ends before the chunk does
        } else {
            walk([size](std::size_t end) { return end < size; });
        }
        if (!is_character) {
            reach(start, next, score + unknown_score_, options_.unk);
            const Cell& cell = best[next - settled];
            if (cell.id == kNone) throw UnknownText(chunk, size, start);
        }
        start = next;
        if (!margin) continue;
        ++margin->characters;
        margin->deepest = std::max(margin->deepest, std::abs(score));
    }
    settle(size);
    writer.finish();
    return best[0].score;
}

template class UnigramModel<float>;
template class UnigramModel<double>;

}  // namespace toksmith::unigram

#include "fused/model.hpp"

#include <algorithm>
#include <cstring>
#include <span>
#include <stdexcept>

#include "base/stop.hpp"

namespace toksmith {

struct FusedModel::Buffers final : Model::Scratch {
    std::unique_ptr<Model::Scratch> inner;
    StageRunner::Buffers stages;
    std::vector<ByteRange> origins;  // of the characters of all pieces
    IdArray places;                  // the spans of the tokens of a piece
    void trim(std::size_t bytes) override {
        inner->trim(bytes);
        stages.piece.trim(bytes);
        Scratch::trim(stages.pieces, bytes);
        Scratch::trim(stages.ends, bytes);
        Scratch::trim(origins, bytes);
        if (places.capacity() * sizeof(Id) > bytes) places = IdArray();
    }
};

std::unique_ptr<Model::Scratch> FusedModel::scratch() const {
    auto buffers = std::make_unique<Buffers>();
    buffers->inner = model_->scratch();
    return buffers;
}

bool FusedModel::needs_prefix_space(const std::uint8_t* begin, const std::uint8_t* end) const {
    if (runner_.stages().prefix_space != PrefixSpace::kUnlessSpace)
        return runner_.stages().prefix_space == PrefixSpace::kAlways;
    using View = std::span<const std::uint8_t>;
    std::array<CharacterTable::OwnUnit, 2> memory;
    const auto start = [&](std::uint32_t code, CharacterTable::OwnUnit& own) -> View {
        const auto units = runner_.table().units(code, own);
        if (units.empty()) return {};
        return {units.data() + 2, units[1]};
    };
    const auto is_context_sensitive = [&](utf8::Char c) {
        const CharacterTable::Row& row = runner_.table().row(CharacterTable::code_of(c));
        return row.is_context_sensitive || row.joins;
    };
    const utf8::Char first = utf8::decode(begin, end);
    const std::uint8_t* second = begin + first.size;
    const View becomes = start(CharacterTable::code_of(first), memory[0]);
    const View space = start(' ', memory[1]);
    if (!becomes.empty() && !is_context_sensitive(first) &&
        (second == end || !is_context_sensitive(utf8::decode(second, end)))) {
        return !std::ranges::equal(becomes, space);
    }

    // Otherwise normalizes the first chunk. A chunk never ends next to a character that becomes
    // nothing; so if the first chunk becomes nothing, the whole text does.
    StageRunner::Buffers buffers;
    bool any = false;
    bool needs_prefix_space = false;
    const auto size = static_cast<std::size_t>(runner_.cut_table()->next(begin, end) - begin);
    runner_.for_each_piece(
        begin, size, buffers, [&](const std::uint8_t* piece, std::size_t length) {
            if (!any)
                needs_prefix_space =
                    length < space.size() || !std::equal(space.begin(), space.end(), piece);
            any = true;
        });
    return needs_prefix_space;
}

void FusedModel::encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                              IdArray& out, IdArray* spans) const {
    if (spans) throw std::logic_error("a model with stages gives no spans");
    auto& buffers = static_cast<Buffers&>(scratch);
    runner_.for_each_piece(chunk, size, buffers.stages,
                           [&](const std::uint8_t* piece, std::size_t length) {
                               model_->encode_chunk(piece, length, *buffers.inner, out, nullptr);
                           });
}

CarriedScoreModel::ScoreBound FusedModel::encode_with_bound(const std::uint8_t* chunk,
                                                            std::size_t size, Scratch& scratch,
                                                            IdArray& out) const {
    auto& buffers = static_cast<Buffers&>(scratch);
    ScoreBound score_bound{.limit = ScoreBound::kMostLimit};  // no token, so valid for any sum
    bool any = false;
    runner_.for_each_piece(
        chunk, size, buffers.stages, [&](const std::uint8_t* piece, std::size_t length) {
            if (any) throw std::logic_error("a sum is carried through text that nothing splits");
            any = true;
            score_bound = model_->carrier()->encode_with_bound(piece, length, *buffers.inner, out);
        });
    return score_bound;
}

void FusedModel::encode_after_sum(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                                  float& sum, IdArray& out, IdArray* spans) const {
    if (spans) throw std::logic_error("a model with stages gives no spans");
    auto& buffers = static_cast<Buffers&>(scratch);
    runner_.for_each_piece(
        chunk, size, buffers.stages, [&](const std::uint8_t* piece, std::size_t length) {
            model_->carrier()->encode_after_sum(piece, length, *buffers.inner, sum, out, nullptr);
        });
}

std::optional<bpe::LaneMergeTable> FusedModel::lane_merges_of(
    std::vector<bpe::LaneMergeRule> rules) const {
    if (runner_.stages().collapse || runner_.stages().trim) return {};
    std::array<Id, 256> symbols;
    symbols.fill(bpe::LaneMergeTable::kNone);
    const Unit run = runner_.run_of_ascii();
    for (std::size_t byte = 0; byte < runner_.ascii().size(); ++byte) {
        const StageRunner::Single& c = runner_.ascii()[byte];
        if (!c.is_single || (c.unit != Unit::kSpace && c.unit != run)) continue;
        if (const auto symbol = model_->lane_symbol(c.bytes.data(), c.size))
            symbols[byte] = *symbol;
    }
    return bpe::LaneMergeTable::make(std::move(rules), symbols);
}

unigram::LaneTexts FusedModel::lane_texts() const {
    unigram::LaneTexts texts{.is_complete = true};
    const Unit run = runner_.run_of_ascii();
    for (std::uint32_t byte = 0; byte < runner_.ascii().size(); ++byte) {
        const StageRunner::Single& c = runner_.ascii()[byte];
        if (!c.is_single) {
            const CharacterTable::Row& row = runner_.table().row(byte);
            texts.is_complete = texts.is_complete && row.size == 0 && !row.is_context_sensitive;
            continue;
        }
        const bool is_space = c.unit == Unit::kStart || c.unit == Unit::kSpace;
        if (is_space || c.unit == run) texts.first[byte] = {c.bytes, c.size};
        texts.collapse[byte] = is_space && runner_.stages().collapse;
        if (c.unit == run && c.size == 1) texts.later[byte] = c.bytes[0];
    }
    return texts;
}

void FusedModel::encode_with_spans(const std::uint8_t* chunk, std::size_t size, bool prefixed,
                                   Scratch& scratch, float* sum, IdArray& out,
                                   IdArray& spans) const {
    check_chunk_size(size);
    auto& buffers = static_cast<Buffers&>(scratch);
    Origins origins(runner_.stages().origin, runner_.stages().space_precedes_piece);
    IdArray& places = buffers.places;
    const auto encode = [&](const std::uint8_t* piece, std::size_t length) {
        places.clear();
        if (sum) {
            model_->carrier()->encode_after_sum(piece, length, *buffers.inner, *sum, out, &places);
        } else {
            model_->encode_chunk(piece, length, *buffers.inner, out, &places);
        }
        for (std::size_t i = 0; i < places.size(); i += 2) {
            const Id* const place = places.data() + i;
            const auto [start, end] = origins.of(place[0], place[1], length);
            spans.push(static_cast<Id>(start));
            spans.push(static_cast<Id>(end));
        }
    };
    if (!runner_.is_context_sensitive(chunk, size) &&
        (runner_.stages().origin != Origin::kShifted || !runner_.drops_characters(chunk, size))) {
        origins.begin(prefixed);
        buffers.stages.piece.resize(0);
        return runner_.make_pieces(chunk, size, buffers.stages.piece, origins, encode);
    }
    auto& [piece_buffer, pieces, ends] = buffers.stages;
    pieces.clear();
    ends.clear();
    buffers.origins.clear();
    runner_.stages().locate_stages(chunk, size, prefixed, pieces, ends, buffers.origins);
    std::size_t start = 0;
    auto origin = buffers.origins.begin();
    for (const std::size_t stop : ends) {
        const std::uint8_t* const piece = pieces.data() + start;
        origins.clear();
        for (std::size_t i = 0; i < stop - start;) {
            if (origin == buffers.origins.end())
                throw std::invalid_argument("the stages returned too few origins");
            origins.put(i, *origin++);
            i += utf8::decode(piece + i, pieces.data() + stop).size;
        }
        encode(piece, stop - start);
        start = stop;
    }
}

bool FusedModel::has_known_origins(const std::uint8_t* begin, const std::uint8_t* end) const {
    if (runner_.stages().origin != Origin::kShifted || begin == end) return true;
    const auto& row = runner_.table().row(CharacterTable::code_of(utf8::decode(begin, end)));
    return row.size > 0 && !row.is_context_sensitive;
}

}  // namespace toksmith

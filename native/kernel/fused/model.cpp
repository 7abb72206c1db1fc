#include "fused/model.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string_view>

#include "base/stop.hpp"

namespace toksmith {
namespace {

// Characters between two interruption points of a long chunk.
constexpr std::size_t kCharacters = std::size_t{1} << 16;

}  // namespace

// A growing array of bytes, optimized for appending a few bytes at a time.
class FusedModel::Piece {
 public:
    const std::uint8_t* data() const { return bytes_.data(); }
    std::size_t size() const { return size_; }
    void resize(std::size_t size) { size_ = size; }  // at most up to the space that room() made
    // Makes space for `count` more bytes and returns its start. Call resize() after writing.
    std::uint8_t* room(std::size_t count) {
        if (bytes_.size() - size_ < count) bytes_.resize(bytes_.size() * 2 + count);
        return bytes_.data() + size_;
    }
    void append(const std::uint8_t* bytes, std::size_t count) {
        std::uint8_t* place = room(count);
        size_ += count;
        // `count` is mostly 1 to 3, for which a loop is faster than a call of memcpy.
        for (std::size_t i = 0; i < count; ++i) place[i] = bytes[i];
    }
    void trim(std::size_t most) {
        size_ = 0;
        if (bytes_.capacity() > most) bytes_ = {};
    }

 private:
    std::vector<std::uint8_t> bytes_;
    std::size_t size_ = 0;
};

struct FusedModel::Buffers final : Model::Scratch {
    std::unique_ptr<Model::Scratch> inner;
    Piece piece;
    std::vector<std::uint8_t> pieces;
    std::vector<std::size_t> ends;
    std::vector<ByteRange> origins;  // of the characters of all pieces
    IdArray places;                  // the spans of the tokens of a piece
    void trim(std::size_t bytes) override {
        inner->trim(bytes);
        piece.trim(bytes);
        Scratch::trim(pieces, bytes);
        Scratch::trim(ends, bytes);
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
    if (stages_.prefix_space != PrefixSpace::kUnlessSpace)
        return stages_.prefix_space == PrefixSpace::kAlways;
    using View = std::basic_string_view<std::uint8_t>;
    std::array<CharacterTable::OwnUnit, 2> memory;
    const auto start = [&](std::uint32_t code, CharacterTable::OwnUnit& own) -> View {
        const auto units = table_->units(code, own);
        if (units.empty()) return {};
        return {units.data() + 2, units[1]};
    };
    const auto is_context_sensitive = [&](utf8::Char c) {
        const CharacterTable::Row& row = table_->row(CharacterTable::code_of(c));
        return row.is_context_sensitive || row.joins;
    };
    const utf8::Char first = utf8::decode(begin, end);
    const std::uint8_t* second = begin + first.size;
    const View becomes = start(CharacterTable::code_of(first), memory[0]);
    const View space = start(' ', memory[1]);
    if (!becomes.empty() && !is_context_sensitive(first) &&
        (second == end || !is_context_sensitive(utf8::decode(second, end)))) {
        return becomes != space;
    }

    // Otherwise normalizes the first chunk. A chunk never ends next to a character that becomes
    // nothing; so if the first chunk becomes nothing, the whole text does.
    Buffers buffers;
    bool any = false;
    bool needs_prefix_space = false;
    const auto size = static_cast<std::size_t>(cut_table_->next(begin, end) - begin);
    for_each_piece(begin, size, buffers, [&](const std::uint8_t* piece, std::size_t length) {
        if (!any) needs_prefix_space = !View(piece, length).starts_with(space);
        any = true;
    });
    return needs_prefix_space;
}

void FusedModel::encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                              IdArray& out, IdArray* spans) const {
    if (spans) throw std::logic_error("a model with stages gives no spans");
    Scratch& inner = *static_cast<Buffers&>(scratch).inner;
    for_each_piece(chunk, size, scratch, [&](const std::uint8_t* piece, std::size_t length) {
        model_->encode_chunk(piece, length, inner, out, nullptr);
    });
}

CarriedScoreModel::ScoreBound FusedModel::encode_with_bound(const std::uint8_t* chunk,
                                                            std::size_t size, Scratch& scratch,
                                                            IdArray& out) const {
    Scratch& inner = *static_cast<Buffers&>(scratch).inner;
    ScoreBound score_bound{.limit = ScoreBound::kMostLimit};  // no token, so valid for any sum
    bool any = false;
    for_each_piece(chunk, size, scratch, [&](const std::uint8_t* piece, std::size_t length) {
        if (any) throw std::logic_error("a sum is carried through text that nothing splits");
        any = true;
        score_bound = model_->carrier()->encode_with_bound(piece, length, inner, out);
    });
    return score_bound;
}

void FusedModel::encode_after_sum(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                                  float& sum, IdArray& out, IdArray* spans) const {
    if (spans) throw std::logic_error("a model with stages gives no spans");
    Scratch& inner = *static_cast<Buffers&>(scratch).inner;
    for_each_piece(chunk, size, scratch, [&](const std::uint8_t* piece, std::size_t length) {
        model_->carrier()->encode_after_sum(piece, length, inner, sum, out, nullptr);
    });
}

FusedModel::Single FusedModel::single(std::uint32_t code) const {
    CharacterTable::OwnUnit own;
    Single made{{}, 0, Unit::kRemoved, false};
    const CharacterTable::Row& row = table_->row(code);
    if (row.is_context_sensitive || row.joins) return made;
    const auto units = table_->units(code, own);
    if (units.empty() || units.size() != 2u + units[1] || units[1] > made.bytes.size()) return made;
    std::copy_n(units.begin() + 2, units[1], made.bytes.begin());
    made.size = units[1];
    made.unit = static_cast<Unit>(units[0]);
    made.is_single = true;
    return made;
}

std::optional<bpe::LaneMergeTable> FusedModel::lane_merges_of(
    std::vector<bpe::LaneMergeRule> rules) const {
    if (stages_.collapse || stages_.trim) return {};
    std::array<Id, 256> symbols;
    symbols.fill(bpe::LaneMergeTable::kNone);
    const Unit run = run_of_ascii();
    for (std::size_t byte = 0; byte < ascii_.size(); ++byte) {
        const Single& c = ascii_[byte];
        if (!c.is_single || (c.unit != Unit::kSpace && c.unit != run)) continue;
        if (const auto symbol = model_->lane_symbol(c.bytes.data(), c.size))
            symbols[byte] = *symbol;
    }
    return bpe::LaneMergeTable::make(std::move(rules), symbols);
}

unigram::LaneTexts FusedModel::lane_texts() const {
    unigram::LaneTexts texts{.is_complete = true};
    const Unit run = run_of_ascii();
    for (std::uint32_t byte = 0; byte < ascii_.size(); ++byte) {
        const Single& c = ascii_[byte];
        if (!c.is_single) {
            const CharacterTable::Row& row = table_->row(byte);
            texts.is_complete = texts.is_complete && row.size == 0 && !row.is_context_sensitive;
            continue;
        }
        const bool is_space = c.unit == Unit::kStart || c.unit == Unit::kSpace;
        if (is_space || c.unit == run) texts.first[byte] = {c.bytes, c.size};
        texts.collapse[byte] = is_space && stages_.collapse;
        if (c.unit == run && c.size == 1) texts.later[byte] = c.bytes[0];
    }
    return texts;
}

Unit FusedModel::run_of_ascii() const {
    for (const Single& c : ascii_) {
        if (c.is_single && c.unit >= Unit::kRun) return c.unit;
    }
    return Unit::kRemoved;
}

bool FusedModel::map_single_pieces(const std::uint8_t* chunk, std::size_t size,
                                   Piece& piece) const {
    constexpr std::size_t kMost = 64;
    if (size > kMost) return false;
    std::uint8_t* const begin = piece.room(kMost * sizeof(Single::bytes));
    std::uint8_t* place = begin;
    Unit run = Unit::kRemoved;  // the class of all characters but spaces
    std::size_t space = 0;      // bytes of the space at the end of the piece, or 0
    for (const std::uint8_t *p = chunk, *end = chunk + size; p < end;) {
        Single high;
        const Single* c = &ascii_[*p & 0x7Fu];
        if (*p < 0x80) {
            ++p;
        } else {
            const utf8::Char decoded = utf8::decode(p, end);
            high = single(CharacterTable::code_of(decoded));
            c = &high;
            p += decoded.size;
        }
        const bool is_space = c->unit == Unit::kSpace || c->unit == Unit::kStart;
        if (stages_.collapse && is_space && space) continue;
        if (!c->is_single) return false;
        if (c->unit < Unit::kSpace && place != begin) return false;
        if (c->unit == Unit::kRemoved) continue;  // at the start of the chunk
        if (c->unit == Unit::kAlone && p != end) return false;
        if (!is_space && c->unit != run) {
            if (run != Unit::kRemoved) return false;
            run = c->unit;
        }
        std::memcpy(place, c->bytes.data(), sizeof(c->bytes));
        place += c->size;
        space = is_space ? c->size : 0;
    }
    piece.resize(static_cast<std::size_t>(place - begin) - (stages_.trim ? space : 0));
    return true;
}

template <typename Test>
bool FusedModel::any_row(const std::uint8_t* chunk, std::size_t size, Test test) const {
    InterruptionPoints<kCharacters> points;
    for (const std::uint8_t *p = chunk, *end = chunk + size; p < end;) {
        points.step();
        const utf8::Char c = utf8::decode(p, end);
        p += c.size;
        if (test(table_->row(CharacterTable::code_of(c)), c.size)) return true;
    }
    return false;
}

void FusedModel::encode_with_spans(const std::uint8_t* chunk, std::size_t size, bool prefixed,
                                   Scratch& scratch, float* sum, IdArray& out,
                                   IdArray& spans) const {
    check_chunk_size(size);
    auto& buffers = static_cast<Buffers&>(scratch);
    Origins origins(stages_.origin, stages_.space_precedes_piece);
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
    if (!is_context_sensitive(chunk, size) &&
        (stages_.origin != Origin::kShifted || !drops_characters(chunk, size))) {
        origins.begin(prefixed);
        buffers.piece.resize(0);
        return make_pieces(chunk, size, buffers.piece, origins, encode);
    }
    buffers.pieces.clear();
    buffers.ends.clear();
    buffers.origins.clear();
    stages_.fallback_with_origins(chunk, size, prefixed, buffers.pieces, buffers.ends,
                                  buffers.origins);
    std::size_t start = 0;
    auto origin = buffers.origins.begin();
    for (const std::size_t stop : buffers.ends) {
        const std::uint8_t* const piece = buffers.pieces.data() + start;
        origins.clear();
        for (std::size_t i = 0; i < stop - start;) {
            if (origin == buffers.origins.end())
                throw std::invalid_argument("the stages returned too few origins");
            origins.put(i, *origin++);
            i += utf8::decode(piece + i, buffers.pieces.data() + stop).size;
        }
        encode(piece, stop - start);
        start = stop;
    }
}

bool FusedModel::has_known_origins(const std::uint8_t* begin, const std::uint8_t* end) const {
    if (stages_.origin != Origin::kShifted || begin == end) return true;
    const auto& row = table_->row(CharacterTable::code_of(utf8::decode(begin, end)));
    return row.size > 0 && !row.is_context_sensitive;
}

bool FusedModel::drops_characters(const std::uint8_t* chunk, std::size_t size) const {
    return any_row(chunk, size,
                   [](const CharacterTable::Row& row, std::uint32_t) { return row.size == 0; });
}

bool FusedModel::is_context_sensitive(const std::uint8_t* chunk, std::size_t size) const {
    std::uint32_t taking = CharacterTable::kShortCluster;  // bytes of the character before
    return any_row(chunk, size, [&](const CharacterTable::Row& row, std::uint32_t bytes) {
        if (row.is_context_sensitive) return true;
        if (row.joins && taking + bytes < CharacterTable::kShortCluster) return true;
        taking = row.takes ? bytes : CharacterTable::kShortCluster;
        return false;
    });
}

template <typename WithPiece>
void FusedModel::for_each_piece(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                                WithPiece with_piece) const {
    auto& buffers = static_cast<Buffers&>(scratch);
    Piece& piece = buffers.piece;
    piece.resize(0);
    if (map_single_pieces(chunk, size, piece)) {
        if (piece.size() > 0) with_piece(piece.data(), piece.size());
        return;
    }
    if (!is_context_sensitive(chunk, size)) {
        NoOrigins origins;
        return make_pieces(chunk, size, piece, origins, with_piece);
    }
    buffers.pieces.clear();
    buffers.ends.clear();
    stages_.fallback(chunk, size, buffers.pieces, buffers.ends);
    std::size_t start = 0;
    for (const std::size_t stop : buffers.ends) {
        with_piece(buffers.pieces.data() + start, stop - start);
        start = stop;
    }
}

template <typename OriginRecorder, typename WithPiece>
void FusedModel::make_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece,
                             OriginRecorder& origins, WithPiece with_piece) const {
    const auto flush = [&] {
        if (piece.size() == 0) return;
        with_piece(piece.data(), piece.size());
        piece.resize(0);
        origins.clear();
    };
    const auto append = [&](const std::uint8_t* unit) {
        origins.add(piece.size());
        piece.append(unit + 2, unit[1]);
    };
    CharacterTable::OwnUnit own;
    auto last = Unit::kRemoved;
    std::size_t space = 0;  // bytes of the space at the end of the piece, or 0
    InterruptionPoints<kCharacters> points;
    for (const std::uint8_t *p = chunk, *end = chunk + size; p < end;) {
        points.step();
        const utf8::Char c = utf8::decode(p, end);
        const auto start = static_cast<std::size_t>(p - chunk);
        origins.read(start, start + c.size);
        p += c.size;
        const std::uint32_t code = CharacterTable::code_of(c);
        const auto units = table_->units(code, own);
        const std::uint8_t* unit = units.data();
        for (const std::uint8_t* stop = unit + units.size(); unit < stop; unit += 2 + unit[1]) {
            const auto kind = static_cast<Unit>(unit[0]);
            const bool is_space = kind == Unit::kSpace || kind == Unit::kStart;
            if (stages_.collapse && is_space && space) {
                origins.leave_out();
                continue;
            }
            switch (kind) {
                case Unit::kRemoved:
                    flush();
                    break;
                case Unit::kAlone:
                    flush();
                    append(unit);
                    flush();
                    break;
                case Unit::kSpace:
                    append(unit);
                    break;
                default:
                    if (kind == Unit::kStart || (kind != last && last != Unit::kStart &&
                                                 last != Unit::kSpace && last >= Unit::kRun)) {
                        flush();
                    }
                    append(unit);
            }
            space = is_space ? unit[1] : 0;
            // A piece that a kStart has started continues, whatever the class.
            last = last == Unit::kStart && kind >= Unit::kRun ? Unit::kStart : kind;
        }
    }
    origins.finish(size);
    if (stages_.trim) piece.resize(piece.size() - space);
    flush();
}

}  // namespace toksmith

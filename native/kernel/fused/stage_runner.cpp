#include "fused/stage_runner.hpp"

#include <algorithm>
#include <utility>

namespace toksmith {

StageRunner::StageRunner(std::shared_ptr<const CharacterTable> table,
                         std::shared_ptr<const CutTable> cut_table, Stages stages)
    : table_(std::move(table)), cut_table_(std::move(cut_table)), stages_(std::move(stages)) {
    for (std::uint32_t code = 0; code < ascii_.size(); ++code) ascii_[code] = single(code);
}

StageRunner::Single StageRunner::single(std::uint32_t code) const {
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

Unit StageRunner::run_of_ascii() const {
    for (const Single& c : ascii_) {
        if (c.is_single && c.unit >= Unit::kRun) return c.unit;
    }
    return Unit::kRemoved;
}

bool StageRunner::map_single_pieces(const std::uint8_t* chunk, std::size_t size,
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
bool StageRunner::any_row(const std::uint8_t* chunk, std::size_t size, Test test) const {
    InterruptionPoints<kCharacters> points;
    for (const std::uint8_t *p = chunk, *end = chunk + size; p < end;) {
        points.step();
        const utf8::Char c = utf8::decode(p, end);
        p += c.size;
        if (test(table_->row(CharacterTable::code_of(c)), c.size)) return true;
    }
    return false;
}

bool StageRunner::drops_characters(const std::uint8_t* chunk, std::size_t size) const {
    return any_row(chunk, size,
                   [](const CharacterTable::Row& row, std::uint32_t) { return row.size == 0; });
}

bool StageRunner::is_context_sensitive(const std::uint8_t* chunk, std::size_t size) const {
    std::uint32_t taking = CharacterTable::kShortCluster;  // bytes of the character before
    return any_row(chunk, size, [&](const CharacterTable::Row& row, std::uint32_t bytes) {
        if (row.is_context_sensitive) return true;
        if (row.joins && taking + bytes < CharacterTable::kShortCluster) return true;
        taking = row.takes ? bytes : CharacterTable::kShortCluster;
        return false;
    });
}

}  // namespace toksmith

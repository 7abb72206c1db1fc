// Closed boundaries: where a text may be cut without changing a token, told from the two characters
// on either side and the one behind them.
//
// Every character ends with one atom and starts with another (after the normalizer they need not
// be the same). Two atoms that may stand side by side inside a token, or across which a stage
// before the model looks, are joined; everywhere else a chunk may end. Only before a character that
// is rewritten together with the next one, and so may start with anything ("e" before an accent),
// none ends. The joined pairs stand in a bit table by hash: a collision joins what could be cut,
// which costs time and changes nothing.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "staged/character_table.hpp"

namespace toksmith {

class Boundaries {
 public:
    using Byte = utf8::Byte;
    using Atom = std::uint16_t;

    // The atom of a character beside which nothing is cut.
    static constexpr Atom kOpen = 0xFFFF;

    Boundaries(std::shared_ptr<const CharacterTable> table,
               const std::vector<std::pair<Atom, Atom>>& joined)
        : table_(std::move(table)),
          mask_(std::bit_ceil(joined.size() * 16 + 4096) - 1),
          bits_((mask_ + 1) / 64) {
        for (const auto& [left, right] : joined) {
            const std::size_t place = place_of(left, right);
            bits_[place / 64] |= std::uint64_t{1} << place % 64;
        }
        for (std::uint32_t left = 0; left < 256; ++left) {
            for (std::uint32_t right = 0; right < 256; ++right) {
                pairs_[left | right << 8] = right >= 0x80  ? kHigh
                                            : left >= 0x80 ? 0
                                                           : ascii(left, right);
            }
        }
    }

    // The first boundary behind p, or `end`; p < end.
    const Byte* next(const Byte* p, const Byte* end) const {
        for (;;) {
            while (p + 1 < end && p[0] < 0x80 && p[1] < 0x80) {
                ++p;
                if ((pair_at(p - 1) & kCut) && stays(p, end)) return p;
            }
            utf8::Char c = utf8::decode(p, end);
            p += c.size;
            if (p >= end) return end;
            const CharacterTable::Row* left = &table_->row(CharacterTable::code_of(c));
            do {
                c = utf8::decode(p, end);
                const CharacterTable::Row* right = &table_->row(CharacterTable::code_of(c));
                if (between(*left, *right) && stays(p, end)) return p;
                if (c.size == 1 && c.code < 0x80) break;  // back to the quick loop
                left = right;
                p += c.size;
            } while (p < end);
            if (p >= end) return end;
        }
    }

    // The boundaries among the first 64 bytes behind p, a bit a byte; all of them are readable. The
    // last bytes may have some that are not told.
    std::uint64_t among(const Byte* p, const Byte* end) const {
        alignas(8) std::uint8_t flags[64];
        flags[0] = p[0] < 0x80 ? 0 : kHigh;
#pragma GCC unroll 9
        for (unsigned i = 1; i < 64; ++i) flags[i] = pair_at(p + i - 1);
        std::array<std::uint64_t, 8> eights;
        std::memcpy(eights.data(), flags, 64);
        std::uint64_t any = 0;
        for (const std::uint64_t eight : eights) any |= eight;
        std::uint64_t marks = bits<kCut>(eights);
        if (any & kOpens * kEach) marks &= ~(bits<kOpens>(eights) >> 1);
        if (any & kHigh * kEach) mark_high(p, end, bits<kHigh>(eights), marks);
        return marks & ~(std::uint64_t{1} << 63 | 1);
    }

    // The first boundary at or behind `from`, which need not be the start of a character.
    const Byte* cut(const Byte* from, const Byte* end) const {
        while (from < end && utf8::is_continuation(*from)) ++from;
        return from < end ? next(from, end) : end;
    }

 private:
    // What is told of two bytes that stand side by side.
    static constexpr std::uint8_t kCut = 1;    // one may cut between the two
    static constexpr std::uint8_t kOpens = 2;  // the one before may go with the second
    static constexpr std::uint8_t kHigh = 4;   // the second is not ASCII: rows tell of it
    static constexpr std::uint64_t kEach = 0x0101010101010101;  // in each byte of eight

    std::uint8_t ascii(std::uint32_t left, std::uint32_t right) const {
        const CharacterTable::Row& row = table_->row(right);
        const bool cut = between(table_->row(left), row);
        return static_cast<std::uint8_t>((cut ? kCut : 0) | (row.right == kOpen ? kOpens : 0));
    }
    std::uint8_t pair_at(const Byte* p) const {
        std::uint16_t both;
        static_assert(std::endian::native == std::endian::little);
        std::memcpy(&both, p, 2);
        return pairs_[both];
    }

    // Marks the boundaries beside the characters beyond ASCII, whose bytes are the bits of `high`.
    void mark_high(const Byte* p, const Byte* end, std::uint64_t high, std::uint64_t& marks) const {
        const CharacterTable::Row* before = nullptr;
        unsigned behind = 0;  // where that one ends
        for (std::uint64_t rest = high; rest != 0;) {
            const auto i = static_cast<unsigned>(std::countr_zero(rest));
            const utf8::Char c = utf8::decode(p + i, end);
            const CharacterTable::Row& row = table_->row(CharacterTable::code_of(c));
            if (i > 0 && behind != i) {
                before = &table_->row(p[i - 1]);
                if (row.right == kOpen) marks &= ~(std::uint64_t{1} << (i - 1));
            }
            if (i > 0 && between(*before, row) && stays(p + i, end)) marks |= std::uint64_t{1} << i;
            before = &row;
            behind = i + c.size;
            if (behind >= 63) break;
            if (p[behind] < 0x80 && between(row, table_->row(p[behind])) &&
                stays(p + behind, end)) {
                marks |= std::uint64_t{1} << behind;
            }
            rest &= ~std::uint64_t{0} << behind;
        }
    }

    bool between(const CharacterTable::Row& left, const CharacterTable::Row& right) const {
        if (left.left == kOpen || right.right == kOpen) return false;
        const std::size_t place = place_of(left.left, right.right);
        return (bits_[place / 64] >> place % 64 & 1) == 0;
    }

    // Whether the character at p is not rewritten together with the one behind it.
    bool stays(const Byte* p, const Byte* end) const {
        p += *p < 0x80 ? 1 : utf8::decode(p, end).size;
        if (p >= end) return true;
        return table_->row(CharacterTable::code_of(utf8::decode(p, end))).right != kOpen;
    }

    // One bit of each of 64 bytes.
    template <std::uint8_t kFlag>
    static std::uint64_t bits(const std::array<std::uint64_t, 8>& eights) {
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 8; ++i) {
            const std::uint64_t ones = eights[i] / kFlag & kEach;
            result |= (ones * 0x0102040810204080ULL >> 56) << 8 * i;  // side by side
        }
        return result;
    }

    std::size_t place_of(Atom left, Atom right) const {
        const std::uint64_t key = std::uint64_t{left} << 16 | right;
        return (key * 0x9E3779B97F4A7C15ULL >> 32) & mask_;
    }

    std::shared_ptr<const CharacterTable> table_;
    std::size_t mask_;
    std::vector<std::uint64_t> bits_;
    std::array<std::uint8_t, 0x10000> pairs_{};  // by two bytes, as they are read at once
};

}  // namespace toksmith

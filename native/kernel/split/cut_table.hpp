// Finds places where a text can be cut without changing any token, from the two characters around
// the place and the one after.
//
// After normalization a character begins with some cut class and ends with one. A cut between
// classes (a, b) is allowed unless the pair is in `inseparable` (some token contains such a pair,
// or a stage looks across it), and unless the character after the cut may be normalized together
// with its successor, as "e" before an accent. Pairs are kept in a Bloom-style bit table: a false
// positive only loses a cut, never correctness. Classes that are in no pair, as most of large
// scripts are, never collide.
#pragma once

#include <bit>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "base/stop.hpp"
#include "simd/byte_pairs.hpp"
#include "simd/byte_set.hpp"
#include "split/character_table.hpp"

namespace toksmith {

class CutTable {
 public:
    using Byte = utf8::Byte;
    // A class of characters, as in the pairs of `inseparable`.
    using CutClass = std::uint16_t;

    // Marks a character next to which the text is never cut.
    static constexpr CutClass kContextSensitive = 0xFFFF;

    CutTable(std::shared_ptr<const CharacterTable> table,
             const std::vector<std::pair<CutClass, CutClass>>& inseparable)
        : table_(std::move(table)),
          left_keys_(kCutClasses),
          right_keys_(kCutClasses),
          mask_(std::bit_ceil(inseparable.size() * 32 + 4096) - 1),
          bits_((mask_ + 1) / 64) {
        for (const auto& [left, right] : inseparable) {
            left_keys_[left] = key_of(left + 1u, 0x9E3779B1);
            right_keys_[right] = key_of(right + 1u, 0x85EBCA77);
        }
        for (const auto& [left, right] : inseparable) {
            const std::size_t place = place_of(product_of(left, right));
            bits_[place / 64] |= std::uint64_t{1} << place % 64;
        }
        const auto row = [this](std::uint32_t byte) -> const auto& { return table_->row(byte); };
        cuts_ = BytePairs([&](unsigned left, unsigned right) {
            return between(row(left), row(right)) && !stays(left, right);
        });
        context_sensitive_ =
            ByteSet([&](unsigned byte) { return row(byte).right == kContextSensitive; });
        for (insensitive_byte_ = 0;
             insensitive_byte_ < 0x7F && row(insensitive_byte_).right == kContextSensitive;)
            ++insensitive_byte_;
    }

    // The first cut after p, or `end`; p < end.
    const Byte* next(const Byte* p, const Byte* end) const {
        InterruptionPoints<std::size_t{1} << 18> points;
        for (; end - p > 2 && p[0] < 0x80 && p[1] < 0x80 && p[2] < 0x80; ++p) {
            if (cuts_.has(p) && !context_sensitive_.has(p[2])) return p + 1;
            points.step();
        }
        Seen c = see(p, end);
        if (c.end == end) return end;
        for (Seen next = see(c.end, end);;) {
            const bool cut = between(*c.row, *next.row) && !stays(c.code, next.code);
            c = next;
            const Byte* const place = c.end - c.size;
            if (c.end == end) return cut ? place : end;
            next = see(c.end, end);
            // Otherwise c may be normalized together with the next character, so there is no cut
            // before c.
            if (cut && next.row->right != kContextSensitive) return place;
            points.step();
        }
    }

    // The cuts in the 64 bytes after p, one bit for each byte; all 64 are readable. May miss cuts
    // near the end. `run_end(p, end)` can skip a run of characters between which every place is a
    // cut: it returns the end of the run, or p if there is none. The last run may end beyond the 64
    // bytes.
    template <typename Isa, typename RunEnd>
    [[gnu::always_inline]] std::uint64_t among(const Byte* p, const Byte* end,
                                               const RunEnd& run_end) const {
        const std::uint64_t high = Isa::template bit<7>(p);
        std::uint64_t marks = cuts_.seconds<Isa>(p) & ~kLast;
        if (high != 0) marks = with_high(p, end, high, marks, run_end);
        return without_context_sensitive<Isa>(p, marks);
    }

    // The same for 64 bytes of ASCII; p need not be a cut. All cuts from the second byte up to byte
    // kAsciiStride are found, so the next window may start there.
    static constexpr std::size_t kAsciiStride = 62;
    template <typename Isa>
    [[gnu::always_inline]] std::uint64_t cuts_in_ascii_window(const Byte* p) const {
        return without_context_sensitive<Isa>(p, cuts_.seconds<Isa>(p) & ~kLast);
    }

    // Whether the three bytes at p are a character that is in no inseparable pair, as most
    // characters of large scripts are.
    bool is_single(const Byte* p) const {
        const Seen c = see(p, p + 3);
        const CharacterTable::Row& row = *c.row;
        return c.size == 3 && row.left != kContextSensitive && row.right != kContextSensitive &&
               (left_keys_[row.left] | right_keys_[row.right]) == 0;
    }
    // A byte of ASCII that is not context-sensitive; 0 if there is none.
    Byte insensitive_byte() const { return insensitive_byte_; }
    // Whether any character of ASCII is context-sensitive.
    bool ascii_is_context_sensitive() const { return !context_sensitive_.empty(); }
    // How many single characters before p must be in the same chunk as the text at p, because it
    // may be normalized together with them.
    std::size_t trailing_context(const Byte* p, const Byte* end) const {
        if (end - p >= 2 && p[0] < 0x80 && p[1] < 0x80 && context_sensitive_.empty()) [[likely]]
            return 0;
        if (p == end) return 0;
        const Seen c = see(p, end);
        // Two, since no chunk starts at the last character before p.
        if (c.row->right == kContextSensitive) return 2;
        return c.end < end && see(c.end, end).row->right == kContextSensitive ? 1 : 0;
    }

    // The first cut at or after `from`, which may point inside a character.
    const Byte* cut(const Byte* from, const Byte* end) const {
        while (from < end && utf8::is_continuation(*from)) ++from;
        return from < end ? next(from, end) : end;
    }

 private:
    // The bit of a window's last byte, whose successor is outside the window.
    static constexpr std::uint64_t kLast = std::uint64_t{1} << 63;

    // Removes the cuts before bytes that may be normalized together with their successor.
    template <typename Isa>
    [[gnu::always_inline]] std::uint64_t without_context_sensitive(const Byte* p,
                                                                   std::uint64_t marks) const {
        return context_sensitive_.empty() ? marks
                                          : marks & ~(context_sensitive_.among<Isa>(p) >> 1);
    }

    // Adds the cuts next to characters beyond ASCII; `high`: the mask of their bytes. Not inlined,
    // to keep the chunk loop small.
    template <typename RunEnd>
    [[gnu::noinline]] std::uint64_t with_high(const Byte* p, const Byte* end, std::uint64_t high,
                                              std::uint64_t marks, const RunEnd& run_end) const {
        const CharacterTable::Row* before = nullptr;
        unsigned start = 0, after = 0;  // the bounds of the character `before`
        unsigned marked_to = 0;         // all cuts up to here are marked
        const auto mark = [&](unsigned i, const CharacterTable::Row& row) {
            if (i == marked_to) return;
            if (row.right == kContextSensitive) marks &= ~(std::uint64_t{1} << start);
            if (between(*before, row)) marks |= std::uint64_t{1} << i;
        };
        for (std::uint64_t rest = high; rest != 0; rest &= ~std::uint64_t{0} << after) {
            const auto i = static_cast<unsigned>(std::countr_zero(rest));
            if (after != i) {
                before = &table_->row(p[i - 1]);
                start = i - 1;
            }
            if (i == marked_to || before->left != kContextSensitive) {
                if (const Byte* const run = run_end(p + i, end); run != p + i) {
                    if (i != 0) marks |= std::uint64_t{1} << i;
                    marked_to = after = static_cast<unsigned>(run - p);
                    if (after >= 64) break;
                    marks |= std::uint64_t{1} << after;
                    continue;
                }
            }
            const Seen c = see(p + i, end);
            mark(i, *c.row);
            before = c.row;
            start = i;
            after = static_cast<unsigned>(c.end - p);
            if (after >= 64) {  // the next character is outside the window
                if (i != marked_to) marks &= ~(std::uint64_t{1} << i);
                break;
            }
            if (p[after] < 0x80) mark(after, table_->row(p[after]));
            marks &= ~kLast;
        }
        return marks;
    }

    // A decoded character: its row, its end, its code point and its size in bytes.
    struct Seen {
        const CharacterTable::Row* row;
        const Byte* end;
        std::uint32_t code, size;
    };
    Seen see(const Byte* p, const Byte* end) const {
        // Fast path: most text beyond ASCII consists of characters of three bytes.
        if (end - p > 2 && p[0] > 0xE0 && p[0] < 0xED && utf8::is_continuation(p[1]) &&
            utf8::is_continuation(p[2])) {
            const std::uint32_t code = utf8::code_of_three(p);
            return {&table_->row(code), p + 3, code, 3};
        }
        const utf8::Char c = utf8::decode(p, end);
        const std::uint32_t code = CharacterTable::code_of(c);
        return {&table_->row(code), p + c.size, code, c.size};
    }

    // Whether a line break or tab stays in the chunk of the ASCII symbol or line break before it.
    // That makes few more distinct chunks, and saves many look-ups. It does not stay if it is
    // normalized to a space, because words start with spaces.
    bool stays(std::uint32_t left, std::uint32_t right) const {
        return (right == '\n' || right == '\r' || right == '\t') && is_sign(left) &&
               table_->row(right).right != table_->row(' ').right;
    }
    static bool is_sign(std::uint32_t code) {
        const bool letter = (code | 0x20) >= 'a' && (code | 0x20) <= 'z';
        const bool digit = code >= '0' && code <= '9';
        return code < 0x80 && code != ' ' && !letter && !digit;
    }

    bool between(const CharacterTable::Row& left, const CharacterTable::Row& right) const {
        if (left.left == kContextSensitive || right.right == kContextSensitive) return false;
        const std::uint64_t product = product_of(left.left, right.right);
        if (product == 0) return true;
        const std::size_t place = place_of(product);
        return (bits_[place / 64] >> place % 64 & 1) == 0;
    }

    // Mixes the bits, so that the product of two keys differs from that of the swapped pair. Never
    // 0.
    static std::uint32_t key_of(std::uint32_t number, std::uint32_t spread) {
        number *= spread;
        number ^= number >> 15;
        number *= 0x2C1B3C6D;
        return number ^ number >> 13;
    }
    // 0 if `left` is never the left class, or `right` never the right class, of an inseparable
    // pair.
    std::uint64_t product_of(CutClass left, CutClass right) const {
        return std::uint64_t{left_keys_[left]} * right_keys_[right];
    }
    std::size_t place_of(std::uint64_t product) const { return product >> 32 & mask_; }

    static constexpr std::size_t kCutClasses = std::size_t{1} << 16;

    std::shared_ptr<const CharacterTable> table_;
    std::vector<std::uint32_t> left_keys_, right_keys_;  // by class; 0: in no inseparable pair
    std::size_t mask_;
    std::vector<std::uint64_t> bits_;
    BytePairs cuts_;  // pairs of ASCII bytes between which the text may be cut
    Byte insensitive_byte_ = 0;
    ByteSet context_sensitive_;  // the context-sensitive bytes of ASCII
};

}  // namespace toksmith

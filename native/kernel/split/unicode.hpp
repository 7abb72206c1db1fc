// The character classes that the split patterns use.
#pragma once

#include <array>
#include <cstdint>

#include "split/unicode_runs.hpp"
#include "utf8/decode.hpp"

namespace toksmith::unicode {

// tools/make_unicode_tables.py uses the same order.
enum class Class : std::uint8_t {
    kOther,    // neither letter, mark, number nor white space; also an invalid byte
    kUpper,    // Lu, Lt
    kLower,    // Ll
    kUncased,  // Lm, Lo
    kMark,     // M
    kNumber,   // N
    kSpace,    // White_Space except the next two
    kNewline,  // \r, \n
};

// Maps a code point to its class in two steps. All blocks of one single class are stored once.
struct ClassTable {
    static constexpr std::uint32_t kBlock = 128;  // code points
    std::array<std::uint16_t, 0x110000 / kBlock> block_of;
    std::array<Class, kBlocks * kBlock> class_of;  // the block of ASCII is the first
};
// Hidden visibility avoids an indirection through the global offset table (GOT).
[[gnu::visibility("hidden")]] extern const ClassTable kClassTable;

inline Class class_of(std::uint32_t code) {
    if (code > 0x10FFFF) return Class::kOther;
    constexpr std::uint32_t kBlock = ClassTable::kBlock;
    return kClassTable.class_of[kClassTable.block_of[code / kBlock] * kBlock + code % kBlock];
}

inline constexpr bool is_letter(Class c) {
    return c == Class::kUpper || c == Class::kLower || c == Class::kUncased;
}
inline constexpr bool is_space(Class c) { return c >= Class::kSpace; }
// [^\s\p{L}\p{N}] in the patterns.
inline constexpr bool is_symbol(Class c) { return c == Class::kOther || c == Class::kMark; }

// A character of the text: its class, and its size in bytes (0 at the end of the text).
struct Classified {
    Class kind;
    std::uint32_t size;
};

inline Classified classify(const utf8::Byte* p, const utf8::Byte* end) {
    if (*p < 0x80) return {kClassTable.class_of[*p], 1};
    const utf8::Char character = utf8::decode(p, end);
    return {class_of(character.code), character.size};
}

}  // namespace toksmith::unicode

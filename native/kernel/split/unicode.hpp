// The classes of characters that the split patterns tell apart.
#pragma once

#include <cstdint>

#include "split/unicode_tables.hpp"
#include "utf8/decode.hpp"

namespace toksmith::unicode {

// The order is that of tools/make_unicode_tables.py.
enum class Class : std::uint8_t {
    kOther,    // neither letter, mark, number nor white space; also a byte that is no UTF-8
    kUpper,    // Lu, Lt
    kLower,    // Ll
    kUncased,  // Lm, Lo
    kMark,     // M
    kNumber,   // N
    kSpace,    // White_Space but for the next two
    kNewline,  // \r, \n
};

inline Class class_of(std::uint32_t code) {
    if (code > 0x10FFFF) return Class::kOther;
    return static_cast<Class>(kClassOf[kBlockOf[code >> 7] * 128u + (code & 127u)]);
}

inline constexpr bool is_letter(Class c) {
    return c == Class::kUpper || c == Class::kLower || c == Class::kUncased;
}
inline constexpr bool is_space(Class c) { return c >= Class::kSpace; }
// What the patterns write as [^\s\p{L}\p{N}].
inline constexpr bool is_symbol(Class c) { return c == Class::kOther || c == Class::kMark; }

// A character of the text: its class and its size in bytes. `size == 0` stands for the end.
struct Classified {
    Class kind;
    std::uint32_t size;
};

inline Classified classify(const utf8::Byte* p, const utf8::Byte* end) {
    if (*p < 0x80) return {static_cast<Class>(kClassOf[kBlockOf[0] * 128u + *p]), 1};
    const utf8::Char character = utf8::decode(p, end);
    return {class_of(character.code), character.size};
}

}  // namespace toksmith::unicode

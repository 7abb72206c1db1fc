// Encodes UTF-8 one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace toksmith::utf8 {

inline constexpr std::size_t kMostBytes = 4;  // of one character

// The length of a code point in UTF-8, in bytes.
inline std::uint32_t size_of(std::uint32_t code) {
    return 1u + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
}

// Whether a code point is a surrogate: half of a UTF-16 pair, and no character by itself.
inline bool is_surrogate(std::uint32_t code) { return (code & ~0x7FFu) == 0xD800; }
// Whether two units form a UTF-16 surrogate pair.
inline bool is_pair(std::uint32_t first, std::uint32_t second) {
    return (first & ~0x3FFu) == 0xD800 && (second & ~0x3FFu) == 0xDC00;
}
inline std::uint32_t code_of_pair(std::uint32_t first, std::uint32_t second) {
    return 0x10000 + ((first & 0x3FF) << 10 | (second & 0x3FF));
}
inline constexpr std::uint32_t kReplacement = 0xFFFD;  // written in place of an unpaired surrogate

// Writes a code point at p and returns its length in bytes.
inline std::uint32_t encode(std::uint32_t code, std::uint8_t* p) {
    const auto set = [p](unsigned i, std::uint32_t byte) {
        p[i] = static_cast<std::uint8_t>(byte);
    };
    const auto continuation = [code](int bits) { return 0x80 | (code >> bits & 0x3F); };
    if (code < 0x80) {
        set(0, code);
        return 1;
    }
    if (code < 0x800) {
        set(0, 0xC0 | code >> 6);
        set(1, continuation(0));
        return 2;
    }
    if (code < 0x10000) {
        set(0, 0xE0 | code >> 12);
        set(1, continuation(6));
        set(2, continuation(0));
        return 3;
    }
    set(0, 0xF0 | code >> 18);
    set(1, continuation(12));
    set(2, continuation(6));
    set(3, continuation(0));
    return 4;
}

}  // namespace toksmith::utf8

// Decodes UTF-8 one character at a time. Invalid UTF-8 is returned byte by byte, as with Python's
// "surrogateescape" error handler.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace toksmith::utf8 {

using Byte = std::uint8_t;

struct Char {
    std::uint32_t code;  // kInvalid for a byte of invalid UTF-8
    std::uint32_t size;  // in bytes, at least 1
};

inline constexpr std::uint32_t kInvalid = 0xFFFFFFFFu;

inline bool is_continuation(Byte byte) { return (byte & 0xC0) == 0x80; }

inline bool is_ascii(const Byte* p, const Byte* end) {
    std::uint64_t any = 0;
    for (; end - p >= 8; p += 8) {
        std::uint64_t eight;
        std::memcpy(&eight, p, 8);
        any |= eight;
    }
    for (; p < end; ++p) any |= *p;
    return (any & 0x8080808080808080) == 0;
}

// The length of a character in bytes according to its first byte alone; at most `left`.
inline std::size_t length_by_lead(Byte lead, std::size_t left) {
    const std::size_t length = std::size_t{1} + (lead >= 0xC0) + (lead >= 0xE0) + (lead >= 0xF0);
    return length < left ? length : left;
}

// The code point of a three-byte character. Does not check that the bytes are valid.
inline std::uint32_t code_of_three(const Byte* p) {
    return (p[0] & 0x0Fu) << 12 | (p[1] & 0x3Fu) << 6 | (p[2] & 0x3Fu);
}

// Decodes the character at p; p < end.
inline Char decode(const Byte* p, const Byte* end) {
    const std::uint32_t lead = p[0];
    if (lead < 0x80) return {lead, 1};
    const std::ptrdiff_t left = end - p;
    if (lead >= 0xC2 && lead < 0xE0) {
        if (left >= 2 && is_continuation(p[1])) return {(lead & 0x1F) << 6 | (p[1] & 0x3Fu), 2};
    } else if (lead >= 0xE0 && lead < 0xF0) {
        if (left >= 3 && is_continuation(p[1]) && is_continuation(p[2])) {
            const std::uint32_t code = code_of_three(p);
            if (code >= 0x800 && (code < 0xD800 || code > 0xDFFF)) return {code, 3};
        }
    } else if (lead >= 0xF0 && lead < 0xF5) {
        if (left >= 4 && is_continuation(p[1]) && is_continuation(p[2]) && is_continuation(p[3])) {
            const std::uint32_t code =
                (lead & 0x07) << 18 | (p[1] & 0x3Fu) << 12 | (p[2] & 0x3Fu) << 6 | (p[3] & 0x3Fu);
            if (code >= 0x10000 && code <= 0x10FFFF) return {code, 4};
        }
    }
    return {kInvalid, 1};
}

// Whether a text is valid UTF-8.
inline bool is_valid(std::string_view text) {
    const auto* p = reinterpret_cast<const Byte*>(text.data());
    for (const Byte* const end = p + text.size(); p < end;) {
        const Char character = decode(p, end);
        if (character.code == kInvalid) return false;
        p += character.size;
    }
    return true;
}

}  // namespace toksmith::utf8

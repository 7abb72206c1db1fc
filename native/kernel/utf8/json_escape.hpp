// Escapes of JSON strings.
#pragma once

#include <charconv>
#include <cstdint>
#include <system_error>

#include "utf8/encode.hpp"

namespace toksmith {

// Writes the character of the escape after a backslash to `out`, which has room for
// utf8::kMostBytes bytes; returns its size. Moves `p` past the escape. Returns 0 if it is invalid
// or half of a surrogate pair.
inline std::uint32_t unescape(const char*& p, const char* end, std::uint8_t* out) {
    if (p == end) return 0;
    const char letter = *p++;
    const auto meant = [out](char character) {
        *out = static_cast<std::uint8_t>(character);
        return 1u;
    };
    switch (letter) {
        case 'n':
            return meant('\n');
        case '"':
        case '\\':
        case '/':
            return meant(letter);
        case 'b':
            return meant('\b');
        case 'f':
            return meant('\f');
        case 'r':
            return meant('\r');
        case 't':
            return meant('\t');
        case 'u':
            break;
        default:
            return 0;
    }
    const auto hex = [&](std::uint32_t& code) {
        if (end - p < 4) return false;
        const auto [stop, error] = std::from_chars(p, p + 4, code, 16);
        if (error != std::errc() || stop != p + 4) return false;
        p += 4;
        return true;
    };
    std::uint32_t code = 0;
    if (!hex(code)) return 0;
    if (utf8::is_surrogate(code)) {
        if (end - p < 6 || p[0] != '\\' || p[1] != 'u') return 0;
        p += 2;
        std::uint32_t second = 0;
        if (!hex(second) || !utf8::is_pair(code, second)) return 0;
        code = utf8::code_of_pair(code, second);
    }
    return utf8::encode(code, out);
}

}  // namespace toksmith

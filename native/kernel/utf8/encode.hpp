// Writing UTF-8 one character at a time.
#pragma once

#include <cstddef>
#include <cstdint>

namespace toksmith::utf8 {

inline constexpr std::size_t kMostBytes = 4;  // of a character

// How many bytes a character has.
inline std::uint32_t size_of(std::uint32_t code) {
    return 1u + (code >= 0x80) + (code >= 0x800) + (code >= 0x10000);
}

// Writes the character at p, and returns how many bytes it has.
inline std::uint32_t encode(std::uint32_t code, std::uint8_t* p) {
    constexpr std::uint8_t kLeads[kMostBytes + 1] = {0, 0, 0xC0, 0xE0, 0xF0};
    const std::uint32_t size = size_of(code);
    for (std::uint32_t i = size; i-- > 1; code >>= 6) {
        p[i] = static_cast<std::uint8_t>(0x80 | (code & 0x3F));
    }
    p[0] = static_cast<std::uint8_t>(kLeads[size] | code);
    return size;
}

}  // namespace toksmith::utf8

// GPT-2's byte alphabet, in which files of byte-level models spell tokens as text.
#pragma once

#include <array>
#include <cstdint>

namespace toksmith {

// The code point of the character that spells each byte: visible Latin-1 characters spell
// themselves, and U+0100, U+0101, … the other bytes in ascending order.
inline constexpr std::array<std::uint16_t, 256> kByteCharacters = [] {
    std::array<std::uint16_t, 256> characters{};
    std::uint16_t other = 0x100;
    for (std::uint16_t byte = 0; byte < 256; ++byte) {
        const bool is_visible = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte != 0xAD);
        characters[byte] = is_visible ? byte : other++;
    }
    return characters;
}();

}  // namespace toksmith

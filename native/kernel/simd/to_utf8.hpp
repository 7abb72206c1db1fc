// Encodes 16 characters of one width as UTF-8.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "utf8/encode.hpp"

namespace toksmith::to_utf8 {

inline constexpr std::size_t kCount = 16;  // characters
inline constexpr std::size_t kBytes = kCount * utf8::kMostBytes;

// For compacting four characters that are spread over four bytes each, with the last byte of a
// character lowest: the shuffle that moves the used bytes together, and their number. The index
// holds the number of continuation bytes of each character: four low bits, then four high bits.
inline constexpr std::size_t kFour = 256;
struct Pressing {
    alignas(16) std::array<std::array<std::uint8_t, 16>, kFour> orders{};
    std::array<std::uint8_t, kFour> sizes{};
};
inline constexpr Pressing kPressing = [] {
    Pressing result;
    for (unsigned sizes = 0; sizes < kFour; ++sizes) {
        std::uint8_t size = 0;
        for (unsigned i = 0; i < 4; ++i) {
            for (unsigned more = (sizes >> i & 1) + 2 * (sizes >> (i + 4) & 1) + 1; more > 0;)
                result.orders[sizes][size++] = static_cast<std::uint8_t>(4 * i + --more);
        }
        result.sizes[sizes] = size;
    }
    return result;
}();

// Encodes the characters at p and returns the end of the output. Up to kBytes bytes may be written.
// Sets `surrogates` if one of them is a surrogate; then the output is undefined.
template <typename Unit>
inline std::uint8_t* write(const Unit* p, std::uint8_t* to, bool& surrogates) {
    constexpr std::uint64_t kBeyondAscii =
        ~std::uint64_t{0} / static_cast<Unit>(~Unit{0}) * static_cast<Unit>(~Unit{0x7F});
    constexpr std::size_t kWords = kCount * sizeof(Unit) / sizeof(std::uint64_t);
    std::uint64_t words[kWords], any = 0;
    std::memcpy(words, p, sizeof words);
    for (std::size_t i = 0; i < kWords; ++i) any |= words[i];
    if ((any & kBeyondAscii) == 0) {
        for (std::size_t i = 0; i < kCount; ++i) to[i] = static_cast<std::uint8_t>(p[i]);
        return to + kCount;
    }
    for (std::size_t i = 0; i < kCount; ++i) {
        surrogates |= utf8::is_surrogate(p[i]);
        to += utf8::encode(p[i], to);
    }
    return to;
}

}  // namespace toksmith::to_utf8

// Converts a bit mask of 64 bytes to pointers to the marked bytes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace toksmith::marked {

inline constexpr std::size_t kMost = 64;

// Writes a pointer to each byte of p whose bit in `marks` is set, and returns their number. The
// rest of `places`, up to kMost, may be overwritten.
inline std::size_t bitmask_to_pointers(const std::uint8_t* p, std::uint64_t marks,
                                       const std::uint8_t** places) {
    const auto count = static_cast<std::size_t>(std::popcount(marks));
    // Four at a time: the end of the loop is rarely mispredicted.
    for (std::size_t i = 0; i < count; i += 4) {
        for (std::size_t j = i; j < i + 4; ++j) {
            places[j] = p + std::countr_zero(marks);
            marks &= marks - 1;
        }
    }
    return count;
}

// The indexes of the set bits of each mask of eight bits.
inline constexpr auto kNumbers = [] {
    std::array<std::array<std::uint8_t, 8>, 256> numbers{};
    for (unsigned marks = 0; marks < 256; ++marks) {
        std::size_t count = 0;
        for (std::uint8_t i = 0; i < 8; ++i) {
            if (marks >> i & 1) numbers[marks][count++] = i;
        }
    }
    return numbers;
}();

}  // namespace toksmith::marked

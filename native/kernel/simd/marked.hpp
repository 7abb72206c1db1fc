// From a mask of 64 bytes to the places of those that are marked.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace toksmith::marked {

inline constexpr std::size_t kMost = 64;

// Writes where the marked bytes behind p are, and returns how many. What is behind them in `places`
// may be overwritten, up to kMost.
inline std::size_t bitmask_to_pointers(const std::uint8_t* p, std::uint64_t marks,
                                       const std::uint8_t** places) {
    const auto count = static_cast<std::size_t>(std::popcount(marks));
    for (std::size_t i = 0; i < count; i += 4) {  // by four: hardly ever a wrong guess
        for (std::size_t j = i; j < i + 4; ++j) {
            places[j] = p + std::countr_zero(marks);
            marks &= marks - 1;
        }
    }
    return count;
}

// Which of eight bytes are marked, by the mask of them.
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

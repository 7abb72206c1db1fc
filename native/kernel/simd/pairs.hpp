// Which of two pairs of words is equal to a third, without branches. Another thread may be writing
// one of the two where zeros stood, its second word last. A vector reads each word at once, but not
// one before the other: so the first word of the third is not to be zero.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace toksmith::pairs {

// Where the pair stands, in bytes; by a bit a word that is equal, the first pair's first.
inline constexpr std::size_t kBytes = 2 * sizeof(std::uint64_t), kNowhere = 0xFF;
inline constexpr std::array<std::uint8_t, 16> kPlaces = [] {
    std::array<std::uint8_t, 16> places{};
    for (unsigned equal = 0; equal < 16; ++equal) {
        places[equal] = (equal & 3) == 3 ? 0 : equal >> 2 == 3 ? kBytes : kNowhere;
    }
    return places;
}();

inline std::size_t place_of(const std::uint64_t* pairs, const std::uint64_t* pair) {
    unsigned equal = 0;
    for (unsigned i = 4; i-- > 0;) {
        const std::uint64_t word =
            std::atomic_ref(const_cast<std::uint64_t&>(pairs[i])).load(std::memory_order_acquire);
        equal |= unsigned{word == pair[i % 2]} << i;
    }
    return kPlaces[equal];
}

}  // namespace toksmith::pairs

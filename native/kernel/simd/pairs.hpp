// Compares two keys of two words with a third one, without branches. Another thread may be filling
// one of the two, which was zero before, and writes its second word last. A vector load reads each
// word atomically, but the words in no fixed order; so the first word of the third key must not be
// 0.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace toksmith::pairs {

// The offset in bytes of the key that is equal, or kNowhere. The index is the mask of equal words:
// two bits for the first key, then two for the second.
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

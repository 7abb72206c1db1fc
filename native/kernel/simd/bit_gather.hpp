// pext and pdep for processors without them: each set bit of the mask moves by the number of clear
// bits below it, in six steps of 1, 2, 4, … 32 places (Warren, "Hacker's Delight", section 7-4).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace toksmith::bit_gather {

inline constexpr std::size_t kSteps = 6;

// The bits that move in each step. They depend on the mask alone, so that the compiler computes
// them once for several calls with the same mask.
[[gnu::always_inline]] inline std::array<std::uint64_t, kSteps> moves(std::uint64_t mask) {
    std::array<std::uint64_t, kSteps> result;
    std::uint64_t clear_below = ~mask << 1;
#pragma GCC unroll 6
    for (std::size_t i = 0; i < kSteps; ++i) {
        std::uint64_t odd = clear_below;  // below this bit, the number of clear bits is odd
#pragma GCC unroll 6
        for (int shift = 1; shift < 64; shift *= 2) odd ^= odd << shift;
        result[i] = odd & mask;
        mask = (mask ^ result[i]) | result[i] >> (1 << i);
        clear_below &= ~odd;
    }
    return result;
}

// Collects the bits of `from` that are set in `mask` into the low bits; pdep() is the inverse.
[[gnu::always_inline]] inline std::uint64_t pext(std::uint64_t from, std::uint64_t mask) {
    const auto moving = moves(mask);
    from &= mask;
#pragma GCC unroll 6
    for (std::size_t i = 0; i < kSteps; ++i) {
        const std::uint64_t some = from & moving[i];
        from = (from ^ some) | some >> (1 << i);
    }
    return from;
}
[[gnu::always_inline]] inline std::uint64_t pdep(std::uint64_t bits, std::uint64_t mask) {
    const auto moving = moves(mask);
#pragma GCC unroll 6
    for (std::size_t i = kSteps; i-- > 0;) {
        const std::uint64_t moved = bits << (1 << i);
        bits = (bits & ~moving[i]) | (moved & moving[i]);
    }
    return bits & mask;
}

}  // namespace toksmith::bit_gather

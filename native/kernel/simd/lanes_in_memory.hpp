// The numbers of a vector as they stand in memory: to take them out of a register one by one takes
// longer.
#pragma once

#include <cstddef>
#include <cstdint>

namespace toksmith {

template <std::size_t kCount>
struct alignas(64) LanesInMemory {
    std::uint32_t numbers[kCount];

    // To be called when they are stored, or the compiler would take them out all the same.
    void stay() { asm("" : "+m"(numbers)); }
    std::size_t operator[](std::size_t lane) const { return numbers[lane]; }
};

}  // namespace toksmith

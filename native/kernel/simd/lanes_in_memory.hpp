// The lanes of a vector, stored to memory to be read one by one, which is faster than extracting
// each from the register.
#pragma once

#include <cstddef>
#include <cstdint>

namespace toksmith {

template <std::size_t kCount>
struct alignas(64) LanesInMemory {
    std::uint32_t numbers[kCount];

    // Call it after the store. Otherwise the compiler replaces the memory accesses by extractions.
    void stay() { asm("" : "+m"(numbers)); }
    std::size_t operator[](std::size_t lane) const { return numbers[lane]; }
};

}  // namespace toksmith

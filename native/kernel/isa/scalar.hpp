// The vocabulary of an instruction set, in plain C++. The other sets offer the same names.
#pragma once

#include <cstddef>
#include <cstdint>

namespace toksmith {

struct Scalar {
    // How many ASCII letters stand at p.
    static std::size_t letters(const std::uint8_t* p, const std::uint8_t* end) {
        const std::uint8_t* q = p;
        while (q < end && static_cast<std::uint8_t>((*q | 0x20) - 'a') < 26) ++q;
        return static_cast<std::size_t>(q - p);
    }
};

}  // namespace toksmith

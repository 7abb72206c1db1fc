// What 64 bytes are, a bit a byte.
#pragma once

#include <cstdint>

namespace toksmith {

struct ByteMasks {
    std::uint64_t letter;
    std::uint64_t upper;  // an ASCII letter without the bit of small ones
    std::uint64_t digit;
    std::uint64_t space;    // white space of all kinds
    std::uint64_t blank;    // ' '
    std::uint64_t newline;  // \r, \n
    std::uint64_t quote;    // '\''
    std::uint64_t slash;
    std::uint64_t high;  // not ASCII
};

}  // namespace toksmith

// A view of text in UTF-8, which may be invalid.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/isa.hpp"

namespace toksmith {

struct Text {
    const std::uint8_t* begin;
    const std::uint8_t* end;
    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

namespace utf8 {

// The first invalid byte, or `end`.
const std::uint8_t* first_invalid(const std::uint8_t* begin, const std::uint8_t* end,
                                  isa::Level level);

}  // namespace utf8
}  // namespace toksmith

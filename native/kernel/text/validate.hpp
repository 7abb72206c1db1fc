// Finding bytes that are not UTF-8.
#pragma once

#include <cstdint>

#include "simd/isa.hpp"

namespace toksmith::utf8 {

// The first byte that belongs to no valid character, or `end`.
const std::uint8_t* first_invalid(const std::uint8_t* begin, const std::uint8_t* end,
                                  isa::Level level);

}  // namespace toksmith::utf8

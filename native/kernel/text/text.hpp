// Text in UTF-8, which need not be valid.
#pragma once

#include <cstddef>
#include <cstdint>

namespace toksmith {

struct Text {
    const std::uint8_t* begin;
    const std::uint8_t* end;
    std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

}  // namespace toksmith

// Symbols as bytes whose order is that of the symbols: strings of symbols compare as their bytes
// do.
#pragma once

#include <cstdint>
#include <vector>

#include "models/bpe/model.hpp"

namespace toksmith::bpe {

// A symbol has one byte below kTwo, two bytes below kThree, and otherwise three. The first byte
// shows how many.
namespace ordered {
inline constexpr std::uint32_t kTwo = 0x80, kTwoLeads = 0x60, kThreeLead = kTwo + kTwoLeads;
inline constexpr std::uint32_t kThree = kTwo + (kTwoLeads << 8);
}  // namespace ordered

// `symbol`: below 2^21.
inline void write_ordered(Id symbol, std::vector<std::uint8_t>& out) {
    using namespace ordered;
    if (symbol < kTwo) {
        out.push_back(static_cast<std::uint8_t>(symbol));
        return;
    }
    if (symbol < kThree) {
        symbol -= kTwo;
        out.push_back(static_cast<std::uint8_t>(kTwo + (symbol >> 8)));
    } else {
        symbol -= kThree;
        out.push_back(static_cast<std::uint8_t>(kThreeLead + (symbol >> 16)));
        out.push_back(static_cast<std::uint8_t>(symbol >> 8));
    }
    out.push_back(static_cast<std::uint8_t>(symbol));
}

// Reads a symbol and moves `p` behind it.
inline Id read_ordered(const std::uint8_t*& p) {
    using namespace ordered;
    const std::uint32_t first = *p++;
    if (first < kTwo) return first;
    const std::uint32_t second = *p++;
    if (first < kThreeLead) return kTwo + ((first - kTwo) << 8 | second);
    return kThree + ((first - kThreeLead) << 16 | second << 8 | *p++);
}

}  // namespace toksmith::bpe

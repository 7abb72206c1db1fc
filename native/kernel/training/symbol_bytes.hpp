// Symbols as bytes: seven bits a byte, the lowest first; the last byte of a symbol has no mark.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "models/bpe/model.hpp"

namespace toksmith::bpe {

// The maximum size of a symbol in bytes.
inline constexpr std::size_t kMostSymbolBytes = 5;

// Also writes larger numbers than symbols.
template <typename Number>
void write_symbol(Number symbol, std::vector<std::uint8_t>& out) {
    for (; symbol >= 0x80; symbol >>= 7) out.push_back(static_cast<std::uint8_t>(symbol | 0x80));
    out.push_back(static_cast<std::uint8_t>(symbol));
}

// Reads a symbol and moves `p` behind it. The bytes must end after a whole symbol.
template <typename Number = Id>
Number read_symbol(const std::uint8_t*& p) {
    Number symbol = *p++;
    if (symbol < 0x80) return symbol;
    symbol &= 0x7F;
    for (unsigned shift = 7;; shift += 7) {
        const Number byte = *p++;
        symbol |= (byte & 0x7F) << shift;
        if (byte < 0x80) return symbol;
    }
}

}  // namespace toksmith::bpe

// UTF-8 as an array of characters, all of one width.
#pragma once

#include <bit>
#include <cstring>

#include "utf8/decode.hpp"

namespace toksmith::utf8 {

// Of characters: how wide the widest one is, as one of these bits; 0 if all are ASCII.
enum Width : unsigned { kAscii = 0, kOneByte = 1, kTwoBytes = 2, kFourBytes = 4 };

// How wide the character is that this byte starts, if it starts one.
inline unsigned width_by_lead(Byte lead) {
    if (lead < 0xC0) return kAscii;
    return lead < 0xC4 ? kOneByte : lead < 0xF0 ? kTwoBytes : kFourBytes;
}

// Writes characters from `out` on, as long as there are valid ones and `out_end` is not reached.
// Returns the byte behind the last.
template <typename Unit>
const Byte* from_utf8(const Byte* p, const Byte* end, Unit*& out, const Unit* out_end) {
    Unit* to = out;
    while (p < end && to < out_end) {
        if (end - p >= 8 && out_end - to >= 8) {
            Byte bytes[8];
            std::memcpy(bytes, p, 8);
            for (int i = 0; i < 8; ++i) to[i] = bytes[i];
            std::uint64_t word = 0;
            for (int i = 0; i < 8; ++i) word |= std::uint64_t{bytes[i]} << 8 * i;
            const std::uint64_t high = word & 0x8080808080808080u;
            const int plain = std::countr_zero(high) / 8;
            p += plain;
            to += plain;
            if (!high) continue;
        }
        const Char next = decode(p, end);
        if (next.code == kInvalid) break;
        *to++ = static_cast<Unit>(next.code);
        p += next.size;
    }
    out = to;
    return p;
}

}  // namespace toksmith::utf8

// Decodes UTF-8 to an array of code points of fixed width, as Python's str stores them.
#pragma once

#include <bit>
#include <cstring>

#include "utf8/decode.hpp"

namespace toksmith::utf8 {

// The width of a unit in bytes. The bits of several characters may be combined; the widest one
// counts. kAscii: all characters are ASCII.
enum Width : unsigned { kAscii = 0, kOneByte = 1, kTwoBytes = 2, kFourBytes = 4 };

// The width of the character that starts with this byte; kAscii for a continuation byte.
inline unsigned width_by_lead(Byte lead) {
    if (lead < 0xC0) return kAscii;
    return lead < 0xC4 ? kOneByte : lead < 0xF0 ? kTwoBytes : kFourBytes;
}

// Decodes characters to `out` until `out_end` or invalid UTF-8 is reached. Returns the byte after
// the last decoded character.
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

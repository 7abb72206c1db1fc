// The classes of ASCII bytes, told from the two halves of a byte: kLow[low half] & kHigh[high half]
// has one bit, that of the class, or none. Bytes beyond ASCII have none.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace toksmith::byte_classes {

// A letter is one of two, since 'O' and 'P' differ in both halves.
enum Bit : std::uint8_t {
    kLetterToO = 0x01,
    kLetterFromP = 0x02,
    kDigit = 0x04,
    kNewline = 0x08,       // \r, \n
    kOtherControl = 0x10,  // \t, \v, \f
    kBlank = 0x20,         // ' '
    kQuote = 0x40,         // '\''
    kSlash = 0x80,
};
inline constexpr std::uint8_t kLetter = kLetterToO | kLetterFromP;
inline constexpr std::uint8_t kSpace = kNewline | kOtherControl | kBlank;

// Four times over, for registers of any size.
using Halves = std::array<std::uint8_t, 64>;
constexpr Halves repeated(const std::array<std::uint8_t, 16>& classes) {
    Halves all{};
    for (std::size_t i = 0; i < all.size(); ++i) all[i] = classes[i % 16];
    return all;
}
alignas(64) inline constexpr Halves kLow = repeated({0x26, 0x07, 0x07, 0x07, 0x07, 0x07, 0x07,
                                                     0x47,  //
                                                     0x07, 0x17, 0x0B, 0x11, 0x11, 0x09, 0x01,
                                                     0x81});
alignas(64) inline constexpr Halves kHigh = repeated({0x18, 0, 0xE0, 0x04, 0x01, 0x02, 0x01, 0x02,
                                                      0, 0, 0, 0, 0, 0, 0, 0});

}  // namespace toksmith::byte_classes

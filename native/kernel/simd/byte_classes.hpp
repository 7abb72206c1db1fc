// Classifies ASCII bytes by two table look-ups, one for each half of the byte: kLow[low half] &
// kHigh[high half] is the bit of its class, or 0. For bytes beyond ASCII it is 0.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace toksmith::byte_classes {

// Letters have two bits, since no single bit can cover 'O' (4F) and 'P' (50), whose halves both
// differ.
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

// The 16 entries four times, as vector registers of up to 64 bytes need them.
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

namespace toksmith {

// The classes of 64 bytes, as one bit mask for each class.
struct ByteMasks {
    std::uint64_t letter;
    std::uint64_t upper;  // A to Z
    std::uint64_t digit;
    std::uint64_t space;    // all white space, including the next two
    std::uint64_t blank;    // ' '
    std::uint64_t newline;  // \r, \n
    std::uint64_t quote;    // '\''
    std::uint64_t slash;
    std::uint64_t high;  // beyond ASCII
};

}  // namespace toksmith

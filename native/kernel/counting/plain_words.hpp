// Splits ASCII text into words, for normalizers that map one character at a time and splitters that
// look at two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace toksmith {

// A text is a sequence of lines, each with the "\n" before it, or a part of a line that starts with
// a space. Both marks are characters like any other.
struct PlainRules {
    // The normalized form of each character; ' ': a separator of words; 0: a text with it is not
    // plain.
    std::array<std::uint8_t, 128> letters{};
    // Two letters are cut apart if `ends` of the left and `starts` of the right one have a common
    // bit. Each space is cut off from the text before it.
    std::array<std::uint8_t, 128> ends{};
    std::array<std::uint8_t, 128> starts{};
    // Whether a word that is only a space is dropped; otherwise a text with one is not plain.
    bool drop_spaces = true;
    std::vector<std::string> symbols{};  // a text with one of these is not plain
};

class PlainReader {
 public:
    explicit PlainReader(PlainRules rules);

    // Writes the letters of a text, and the end of each word among them; both arrays have room for
    // one entry a byte. Returns the number of words, including those that drop_spaces drops; 0 if
    // the text is empty or not plain.
    std::size_t read(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t* letters,
                     const std::uint8_t** ends) const;

    bool drops_spaces() const { return rules_.drop_spaces; }

 private:
    bool holds_symbol(const std::uint8_t* begin, const std::uint8_t* end) const;
    bool holds_space_alone(const std::uint8_t* letters, const std::uint8_t* const* ends,
                           std::size_t words) const;

    PlainRules rules_;
    // Four packed bytes for each byte value: its letter, its `ends`, its `starts`, and whether it
    // needs a closer look.
    std::array<std::uint32_t, 256> bytes_{};
};

}  // namespace toksmith

// Words of ASCII, told from the text as it stands: what normalizers make of it needs no more than a
// look at one character at a time, and where it is cut, at two.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace toksmith {

// A text stands for lines, each with the "\n" before it, or for a part of a line that starts with a
// space; either of the two is a character like any other.
struct PlainRules {
    // What becomes of each character; ' ': it parts words; 0: what holds it is not plain.
    std::array<std::uint8_t, 128> letters{};
    // Between two letters there is a cut where `ends` of the left and `starts` of the right have a
    // bit in common. Each space is cut from what stands before it.
    std::array<std::uint8_t, 128> ends{};
    std::array<std::uint8_t, 128> starts{};
    // Whether a space by itself is no word; otherwise what holds one is not plain.
    bool drop_spaces = true;
    std::vector<std::string> symbols{};  // what holds one is not plain
};

class PlainReader {
 public:
    explicit PlainReader(PlainRules rules);

    // Writes the letters of a text, and where each of the words ends in them; there is room for a
    // letter and an end a byte. Returns how many words there are, those of drop_spaces included; 0
    // where the text is not plain, or empty.
    std::size_t read(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t* letters,
                     const std::uint8_t** ends) const;

    bool drops_spaces() const { return rules_.drop_spaces; }

 private:
    bool holds_symbol(const std::uint8_t* begin, const std::uint8_t* end) const;
    bool holds_space_alone(const std::uint8_t* letters, const std::uint8_t* const* ends,
                           std::size_t words) const;

    PlainRules rules_;
    // Of each byte: its letter, what that ends and starts, and whether to look closer; a byte each.
    std::array<std::uint32_t, 256> bytes_{};
};

}  // namespace toksmith

// Splits ASCII text into words, for normalizers that map each character by itself and splitters
// that depend on two adjacent characters. Text for which this is possible is called plain.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

namespace toksmith {

// The texts are sequences of lines, each with the "\n" before it, or parts of a line that start
// with a space. The "\n" and the space are treated like other characters.
struct PlainRules {
    // The normalized form of each character ("letter"); ' ': the character separates words; 0: a
    // text that contains it is not plain.
    std::array<std::uint8_t, 128> letters{};
    // The text is cut between two letters if `ends` of the left one and `starts` of the right one
    // have a common bit. It is always cut before a space.
    std::array<std::uint8_t, 128> ends{};
    std::array<std::uint8_t, 128> starts{};
    // Whether words that consist of one space are dropped. If not, a text with such a word is not
    // plain.
    bool drop_spaces = true;
    std::vector<std::string> symbols{};  // a text that contains one of these is not plain
};

class PlainReader {
 public:
    explicit PlainReader(PlainRules rules);

    // Writes the letters of a text, and the end of each word in them. Both arrays need one element
    // per byte of text. Returns the number of words, including dropped ones; 0 if the text is empty
    // or not plain.
    std::size_t read(const std::uint8_t* begin, const std::uint8_t* end, std::uint8_t* letters,
                     const std::uint8_t** ends) const;

    bool drops_spaces() const { return rules_.drop_spaces; }

 private:
    bool holds_symbol(const std::uint8_t* begin, const std::uint8_t* end) const;
    bool holds_space_alone(const std::uint8_t* letters, const std::uint8_t* const* ends,
                           std::size_t words) const;

    PlainRules rules_;
    // By byte, four bytes in one word: its letter, its `ends`, its `starts`, and whether it needs
    // the slow path.
    std::array<std::uint32_t, 256> bytes_{};
};

}  // namespace toksmith

// Normalizing counted chunks of ASCII, and cutting them into words: what needs no more than a look
// at one character at a time. All other chunks are left to the caller.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "train/distinct_chunks.hpp"

namespace toksmith {

// Distinct chunks as WordCounter makes them: each starts with the space before it, or with "\n"
// where it starts a line.
struct WordChunks {
    const std::uint8_t* bytes;  // all chunks end to end
    const std::uint64_t* ends;
    const std::uint64_t* counts;
    std::size_t size;
};

struct PlainWords {
    std::vector<std::uint8_t> is_plain;  // of each chunk
    DistinctChunks words;                // of those that are, in the order of first appearance
};

// What SentencePiece's normalizer makes of ASCII: words, each with one space before it.
struct SpacedWords {
    // What becomes of each character; ' ': it parts words; 0: what holds it is not plain.
    std::array<std::uint8_t, 128> letters{};
    bool skip_spaces = true;  // several spaces are one, and those at the end of a line none
    bool line_starts = true;  // a space is put before a line
    std::vector<std::string> symbols;  // words that hold one are not plain
};
PlainWords plain_words(const WordChunks& chunks, const SpacedWords& rules, std::size_t threads);

// What a splitter makes of ASCII, where characters have classes: one that is removed parts words,
// one that is alone is a word, of others those of one class side by side are a word.
struct ClassWords {
    enum : std::uint8_t { kRemoved = 0, kAlone = 1, kNotPlain = 255 };  // and any others

    std::array<std::uint8_t, 128> letters{};  // what normalizers make of each character
    std::array<std::uint8_t, 128> classes{};  // what class that has
};
PlainWords plain_words(const WordChunks& chunks, const ClassWords& rules, std::size_t threads);

}  // namespace toksmith

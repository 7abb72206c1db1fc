// The sorted suffixes of all words, and the substrings that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/unigram/lattices.hpp"
#include "training/unigram/trainer.hpp"

namespace toksmith::unigram {

// Suffixes sorted by their first `depth` characters; equal ones by place.
struct Suffixes {
    std::size_t depth;
    std::vector<std::uint32_t> places;  // where each suffix starts in the text
    // Where the suffixes that start with each character begin in `places`; and the end.
    std::vector<std::uint32_t> buckets;
};

Suffixes sort_suffixes(const CountedWords& words, std::size_t depth, const Workers& workers);

// A substring that exactly the suffixes [first, last) start with.
struct Shared {
    std::uint32_t first, last;
    std::uint32_t length;
    std::uint64_t count;  // its count in the text
};

// Calls found(substring) for the substrings of one bucket that are followed by different characters
// or the end of a word, of two to `depth` characters, in no fixed order. `owners` is the number of
// the word at each place of the text.
void shared_substrings(const CountedWords& words, const Suffixes& suffixes, std::size_t bucket,
                       const std::vector<std::uint32_t>& owners,
                       const std::function<void(const Shared&)>& found);

}  // namespace toksmith::unigram

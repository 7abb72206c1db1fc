// All suffixes of the words in order, and the substrings that they share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/unigram/lattices.hpp"
#include "training/unigram/trainer.hpp"

namespace toksmith::unigram {

// Suffixes in the order of their first `depth` characters; of equal ones, by place.
struct Suffixes {
    std::size_t depth;
    std::vector<std::uint32_t> places;  // where each suffix starts in the text
    // Where those that start with each character begin in `places`; and the end.
    std::vector<std::uint32_t> buckets;
};

Suffixes sort_suffixes(const CountedWords& words, std::size_t depth, const Workers& workers);

// A substring: what the suffixes [first, last) start with, and no others.
struct Shared {
    std::uint32_t first, last;
    std::uint32_t length;
    std::uint64_t count;  // how often it stands in the text
};

// Calls found(substring) for the substrings of one bucket that different characters follow, or that
// a word ends with. Longer than one character and at most `depth` characters, in no fixed order.
// `owners` holds the number of the word at each place of the text.
void shared_substrings(const CountedWords& words, const Suffixes& suffixes, std::size_t bucket,
                       const std::vector<std::uint32_t>& owners,
                       const std::function<void(const Shared&)>& found);

}  // namespace toksmith::unigram

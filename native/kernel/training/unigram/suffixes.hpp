// The sorted suffixes of all words, and the substrings that several of them share.
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
    std::vector<std::uint32_t> places;  // the start of each suffix in the text
    // For each first character, the index in `places` of the first suffix; then the end.
    std::vector<std::uint32_t> buckets;
};

Suffixes sort_suffixes(const CountedWords& words, std::size_t depth, const Workers& workers);

// A substring that is a prefix of exactly the suffixes [first, last).
struct Shared {
    std::uint32_t first, last;
    std::uint32_t length;
    std::uint64_t count;  // how often it occurs in the text
};

// Calls found(substring) for each shared substring of 2 to `depth` characters in one bucket, in no
// fixed order, unless all its occurrences continue with the same character. `owners`: the index of
// the word at each place of the text.
void shared_substrings(const CountedWords& words, const Suffixes& suffixes, std::size_t bucket,
                       const std::vector<std::uint32_t>& owners,
                       const std::function<void(const Shared&)>& found);

}  // namespace toksmith::unigram

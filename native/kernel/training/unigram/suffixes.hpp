// The sorted suffixes of all words, and the substrings that several of them share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/unigram/trainer.hpp"
#include "training/unigram/tries.hpp"

namespace toksmith::unigram {

// How many first characters each word shares with the word before.
std::vector<std::uint32_t> shared_prefixes(const CountedWords& words);

// The words sorted by their last characters. Words with the same end are adjacent.
struct WordEnds {
    std::vector<std::uint32_t> order;   // the numbers of the words
    std::vector<std::uint32_t> shared;  // how many last characters each shares with the one before
};

WordEnds sort_ends(const CountedWords& words, const Workers& workers);

// The distinct suffixes of the words. Each is stored at one of its occurrences.
class DistinctSuffixes {
 public:
    DistinctSuffixes(const CountedWords& words, const WordEnds& ends);

    // Whether a place has a suffix that is not stored at another place.
    bool has(std::uint32_t place) const { return counts_[place] != kNone; }
    // The number of occurrences in the text of the suffix at a place.
    std::uint64_t count(std::uint32_t place) const {
        const std::uint32_t count = counts_[place];
        return count & kLarge ? large_[count ^ kLarge] : count;
    }
    void prefetch(std::uint32_t place) const { __builtin_prefetch(counts_.data() + place); }

 private:
    static constexpr std::uint32_t kLarge = 1u << 31, kNone = 0xFFFFFFFFu;

    std::vector<std::uint32_t> counts_;  // a count, or kLarge plus an index in large_, or kNone
    std::vector<std::uint64_t> large_;
};

// Distinct suffixes sorted by their first `depth` characters; equal ones by place.
struct Suffixes {
    std::size_t depth;
    std::vector<std::uint32_t> places;  // the start of each suffix in the text
    // For each first character, the index in `places` of the first suffix; then the end.
    std::vector<std::uint32_t> buckets;
};

Suffixes sort_suffixes(const CountedWords& words, const DistinctSuffixes& distinct,
                       std::size_t depth, const Workers& workers);

// A substring that is a prefix of exactly the suffixes [first, last).
struct Shared {
    std::uint32_t first, last;
    std::uint32_t length;
    std::uint64_t count;  // how often it occurs in the text
};

// Calls found(substring) for each shared substring of 2 to `depth` characters in one bucket, in no
// fixed order, unless all its occurrences continue with the same character.
void shared_substrings(const CountedWords& words, const DistinctSuffixes& distinct,
                       const Suffixes& suffixes, std::size_t bucket,
                       const std::function<void(const Shared&)>& found);

}  // namespace toksmith::unigram

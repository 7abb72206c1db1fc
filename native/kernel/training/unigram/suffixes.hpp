// The sorted suffixes of all words, and the substrings that several of them share.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/unigram/words.hpp"
#include "training/unigram/workers.hpp"

namespace toksmith::unigram {

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

// A substring that several strings start with.
struct Shared {
    std::uint64_t first;  // the number of the first of these strings
    std::uint64_t count;  // how often it occurs in the text
    std::uint32_t length;
};

// Finds the substrings that strings share with which they start. The strings come in order. All
// substrings count, unless all their occurrences continue with the same character.
class SharedPrefixes {
 public:
    // Adds the next string, which has `common` first characters of the string before. Calls
    // found(shared) for each substring of 2 or more characters with which the string before
    // started, but not this one.
    template <typename Found>
    void add(std::uint64_t number, std::uint32_t common, std::uint32_t length, std::uint64_t count,
             const Found& found) {
        close(common, found);
        if (length > open_.back().length) {
            open_.push_back({number, count, length});
        } else {
            open_.back().count += count;
        }
    }
    // Ends the strings.
    template <typename Found>
    void finish(const Found& found) {
        close(0, found);
    }

 private:
    template <typename Found>
    void close(std::uint32_t length, const Found& found) {
        while (open_.back().length > length) {
            const Shared closed = open_.back();
            open_.pop_back();
            if (closed.length > 1) found(closed);
            if (open_.back().length < length) {
                open_.push_back({closed.first, closed.count, length});
            } else {
                open_.back().count += closed.count;
            }
        }
    }

    // The substrings with which the last string starts, each a prefix of the next one.
    std::vector<Shared> open_{{0, 0, 0}};
};

// Calls found(substring) for each substring of 2 to `depth` characters that suffixes in one bucket
// share, in no fixed order.
void shared_substrings(const CountedWords& words, const DistinctSuffixes& distinct,
                       const Suffixes& suffixes, std::size_t bucket,
                       const std::function<void(const Shared&)>& found);

}  // namespace toksmith::unigram

// The new pairs of one share of the text, gathered apart from all other shares.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/stop.hpp"
#include "training/bpe/pair_index.hpp"
#include "training/bpe/position_arena.hpp"

namespace toksmith::bpe {

// A pair that one share shows.
struct PairOccurrence {
    Id left, right;
    std::uint64_t count = 0;
    std::uint32_t places = 0;  // how many; once it has a number, how many other shares have before
    std::uint32_t pair = 0;    // its number; kNone: it may not merge
    Position* next = nullptr;  // where its next place goes
};

// What one share of a merge's places shows: the pairs of the new id with its neighbours. No two
// shares write to one line of the cache, or to one that is fetched with it.
class alignas(128) PairOccurrences {
 public:
    // Begins with the next merge, in so many places; `ids` are known with the one that it makes.
    void begin(std::size_t ids, std::size_t places) {
        ++merge_;
        before_.resize(ids);
        after_.resize(ids);
        pairs.clear();
        size_ = 0;
        if (noted_.size() < 2 * places) noted_.resize(2 * places);
        joined = 0;
    }

    // Notes a place of a pair. Whether it may merge is asked when it is first seen.
    template <typename MayMerge>
    void note_before(Id other, Id id, std::uint64_t count, Position place, MayMerge may_merge) {
        note(before_[other], other, id, count, place, may_merge);
    }
    template <typename MayMerge>
    void note_after(Id id, Id other, std::uint64_t count, Position place, MayMerge may_merge) {
        note(after_[other], id, other, count, place, may_merge);
    }

    // Puts the places where the pairs' lists want them.
    void keep_places() {
        for (std::size_t i = 0; i < size_;) {
            for (const std::size_t stop = std::min(size_, i + kAtOnce); i < stop; ++i) {
                *pairs[noted_[i].occurrence].next++ = noted_[i].place;
            }
            if (i < size_) interruption_point();
        }
    }

    std::vector<PairOccurrence> pairs;  // in the order of first sight
    std::uint64_t joined = 0;           // how often the merge was made

 private:
    static constexpr std::size_t kAtOnce = std::size_t{1} << 16;

    // The sighting of an id beside the pair that is being merged.
    struct Neighbour {
        std::uint32_t merge = 0;  // by which it was seen last
        std::uint32_t occurrence = 0;
    };
    struct Noted {
        std::uint32_t occurrence = 0;
        Position place = 0;
    };

    template <typename MayMerge>
    [[gnu::always_inline]] void note(Neighbour& neighbour, Id left, Id right, std::uint64_t count,
                                     Position place, MayMerge may_merge) {
        if (neighbour.merge != merge_) {
            neighbour = {merge_, static_cast<std::uint32_t>(pairs.size())};
            pairs.push_back({left, right});
            if (!may_merge(left, right)) pairs.back().pair = PairIndex::kNone;
        }
        PairOccurrence& occurrence = pairs[neighbour.occurrence];
        occurrence.count += count;
        if (occurrence.pair == PairIndex::kNone) return;
        ++occurrence.places;
        noted_.data()[size_++] = {neighbour.occurrence, place};
    }

    std::uint32_t merge_ = 0;
    std::vector<Neighbour> before_, after_;  // by id
    std::vector<Noted> noted_;               // the first size_ of them
    std::size_t size_ = 0;
};

}  // namespace toksmith::bpe

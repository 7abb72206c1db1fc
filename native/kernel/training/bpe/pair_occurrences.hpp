// The new pairs that one share of the text contains, collected without any other share.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/stop.hpp"
#include "training/bpe/pair_index.hpp"
#include "training/bpe/position_arena.hpp"

namespace toksmith::bpe {

// A pair that one share contains.
struct PairOccurrence {
    Id left, right;
    std::uint64_t count = 0;
    std::uint32_t places = 0;  // its positions; once numbered: those of the shares before
    std::uint32_t pair = 0;    // the number of the pair; kNone: it may not merge
    Position* next = nullptr;  // where its next position is written
};

// The pairs of the new id with its neighbours in one share of a merge's positions. Aligned so that
// no two shares write to one cache line, or to a pair of lines that is fetched together.
class alignas(128) PairOccurrences {
 public:
    // Starts the next merge, in at most `places` positions. `ids`: the number of ids, with the new
    // one.
    void begin(std::size_t ids, std::size_t places) {
        ++merge_;
        before_.resize(ids);
        after_.resize(ids);
        pairs.clear();
        size_ = 0;
        if (noted_.size() < 2 * places) noted_.resize(2 * places);
        joined = 0;
    }

    // Records a position of a pair. may_merge() is called when the pair is first seen.
    template <typename MayMerge>
    void note_before(Id other, Id id, std::uint64_t count, Position place, MayMerge may_merge) {
        note(before_[other], other, id, count, place, may_merge);
    }
    template <typename MayMerge>
    void note_after(Id id, Id other, std::uint64_t count, Position place, MayMerge may_merge) {
        note(after_[other], id, other, count, place, may_merge);
    }

    // Writes the positions to the lists of their pairs.
    void keep_places() {
        for (std::size_t i = 0; i < size_;) {
            for (const std::size_t stop = std::min(size_, i + kAtOnce); i < stop; ++i) {
                *pairs[noted_[i].occurrence].next++ = noted_[i].place;
            }
            if (i < size_) interruption_point();
        }
    }

    std::vector<PairOccurrence> pairs;  // in the order in which they were first seen
    std::uint64_t joined = 0;           // occurrences of the merge

 private:
    static constexpr std::size_t kAtOnce = std::size_t{1} << 16;

    // The occurrence of an id next to the pair that is merged.
    struct Neighbour {
        std::uint32_t merge = 0;  // the merge that saw it last
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

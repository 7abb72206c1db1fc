// The new pairs that a merge makes in one share of the text.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/huge_page_array.hpp"
#include "base/stop.hpp"
#include "training/bpe/pair_index.hpp"
#include "training/bpe/position_arena.hpp"

namespace toksmith::bpe {

// A pair that occurs in one share.
struct PairOccurrence {
    Id left, right;
    std::uint64_t count = 0;
    // The number of its positions in this share; after add_occurrence(), in the shares before it.
    std::uint32_t places = 0;
    std::uint32_t pair = 0;    // the number of the pair; kNone: the pair may not merge
    Position* next = nullptr;  // where to write its next position
};

// The pairs of the new symbol with its neighbours, in one share of the positions of a merge.
// Aligned so that no two shares write to one cache line, or to a pair of lines that the processor
// fetches together.
class alignas(128) PairOccurrences {
 public:
    // Starts the next merge. `ids`: the number of ids, including the new one; `places`: the maximum
    // number of positions.
    void begin(std::size_t ids, std::size_t places) {
        ++merge_;
        before_.resize(ids);
        after_.resize(ids);
        pairs.clear();
        size_ = 0;
        if (noted_size_ < 2 * places) {
            noted_size_ = 2 * std::max(noted_size_, places);
            noted_ = HugePageArray<Noted>(noted_size_);
        }
        joined = 0;
    }

    // Records an occurrence of a pair. Calls may_merge() for its first occurrence.
    template <typename MayMerge>
    void note_before(Id other, Id id, std::uint64_t count, Position place, MayMerge may_merge) {
        note(before_[other], other, id, count, place, may_merge);
    }
    template <typename MayMerge>
    void note_after(Id id, Id other, std::uint64_t count, Position place, MayMerge may_merge) {
        note(after_[other], id, other, count, place, may_merge);
    }

    // Writes the recorded positions to the lists of their pairs.
    void keep_places() {
        for (std::size_t i = 0; i < size_;) {
            for (const std::size_t stop = std::min(size_, i + kAtOnce); i < stop; ++i) {
                const Noted& noted = noted_.data()[i];
                *pairs[noted.occurrence].next++ = noted.place;
            }
            if (i < size_) interruption_point();
        }
    }

    std::vector<PairOccurrence> pairs;  // in the order of their first occurrences
    std::uint64_t joined = 0;           // how often the merge occurred

 private:
    static constexpr std::size_t kAtOnce = std::size_t{1} << 16;

    // By id of a neighbour: the index in `pairs`, valid if `merge` is the current merge.
    struct Neighbour {
        std::uint32_t merge = 0;  // the last merge that found this neighbour
        std::uint32_t occurrence = 0;
    };
    struct Noted {
        std::uint32_t occurrence;
        Position place;
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
    std::size_t noted_size_ = 1;
    HugePageArray<Noted> noted_{noted_size_};  // [0, size_) are used
    std::size_t size_ = 0;
};

}  // namespace toksmith::bpe

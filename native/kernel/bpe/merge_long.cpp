// Merging a long chunk: the places of each mergeable pair are kept by rank, and the ranks in a
// heap.
//
// The symbols stand in an array with one cell a byte: a symbol's id is in its first cell and,
// marked, in its last, so that both neighbours can be found from the lengths of tokens, without
// links. The places of one rank are worked off from left to right, in one sweep over memory.

#include <algorithm>
#include <queue>
#include <stdexcept>
#include <unordered_map>

#include "bpe/model.hpp"

namespace toksmith::bpe {
namespace {

using Place = std::uint32_t;

class LongMerge {
 public:
    LongMerge(const std::uint8_t* chunk, std::size_t size, const std::array<Id, 256>& byte_ids,
              const PairTable& pairs, const Vocabulary& vocabulary)
        : pairs_(pairs), vocabulary_(vocabulary), cells_(size) {
        if (size >= 0xFFFFFFFFu) {
            throw std::length_error(
                "a chunk of 4 GiB or more cannot be encoded: split the text into documents, or use "
                "a split pattern");
        }
        for (std::size_t i = 0; i < size; ++i) cells_[i] = byte_ids[chunk[i]];
        for (std::size_t i = 0; i + 1 < size; ++i) note(i, cells_[i], cells_[i + 1]);
    }

    void run() {
        while (!ranks_.empty()) {
            const std::uint32_t rank = ranks_.top();
            ranks_.pop();
            const auto found = places_.find(rank);
            std::vector<Place> places = std::move(found->second);
            places_.erase(found);
            if (!std::is_sorted(places.begin(), places.end())) {
                std::sort(places.begin(), places.end());
            }
            for (std::size_t i = 0; i < places.size(); ++i) {
                merge(places[i], rank);
                // Only a list of merges that no training makes can put a lower rank behind a
                // higher.
                if (!ranks_.empty() && ranks_.top() < rank) {
                    for (++i; i < places.size(); ++i) note(rank, places[i]);
                }
            }
        }
    }

    void write(Ids& out) const {
        for (std::size_t i = 0; i < cells_.size(); i += vocabulary_.length(cells_[i])) {
            out.push(cells_[i]);
        }
    }

 private:
    void note(std::uint32_t rank, std::size_t place) {
        std::vector<Place>& places = places_[rank];
        if (places.empty()) ranks_.push(rank);
        places.push_back(static_cast<Place>(place));
    }

    void note(std::size_t place, Id left, Id right) {
        const Merge merge = pairs_.find(left, right);
        if (merge.rank != kNoRank) note(merge.rank, place);
    }

    // Merges the pair at `place`, if it still stands there with this rank.
    void merge(std::size_t place, std::uint32_t rank) {
        const std::size_t end = cells_.size();
        const Id left = cells_[place];
        if (left & kNoStart) return;
        const std::size_t middle = place + vocabulary_.length(left);
        if (middle >= end) return;
        const Id right = cells_[middle];
        const Merge found = pairs_.find(left, right);
        if (found.rank != rank) return;
        const std::size_t after = middle + vocabulary_.length(right);
        cells_[middle - 1] = cells_[middle] = kNoStart;
        cells_[after - 1] = found.id | kNoStart;
        cells_[place] = found.id;
        if (after < end) note(place, found.id, cells_[after]);
        if (place > 0) {
            const Id before = cells_[place - 1] & ~kNoStart;
            note(place - vocabulary_.length(before), before, found.id);
        }
    }

    // Marks the cells in which no symbol starts.
    static constexpr Id kNoStart = 0x80000000u;

    const PairTable& pairs_;
    const Vocabulary& vocabulary_;
    std::vector<Id> cells_;
    std::unordered_map<std::uint32_t, std::vector<Place>> places_;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ranks_;
};

}  // namespace

void merge_long(const std::uint8_t* chunk, std::size_t size, const std::array<Id, 256>& byte_ids,
                const PairTable& pairs, const Vocabulary& vocabulary, Ids& out) {
    LongMerge merging(chunk, size, byte_ids, pairs, vocabulary);
    merging.run();
    merging.write(out);
}

}  // namespace toksmith::bpe

// Merges a row of symbols: the adjacent pair with the lowest rank (the leftmost one of several)
// becomes one symbol, until no pair has a merge.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <queue>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/stop.hpp"
#include "models/bpe/pair_table.hpp"

namespace toksmith::bpe {

// The rank of two symbols that do not merge, but may become parts of one token after each merged
// with its other neighbour. If two symbols have rank kNoRank instead, no merge ever reaches across,
// and the two sides merge independently.
inline constexpr std::uint32_t kMayReachAcross = kNoRank - 1;

// The longest row, in symbols, that merge_short() merges. LongMerge merges longer ones.
inline constexpr std::size_t kShort = 96;

// Merges a short row in place: quadratic in the worst case, but without overhead. `merges[i]` is
// the merge of ids[i] and ids[i + 1]. Calls `moved(to, from)` for each symbol that moves. Returns
// the number of remaining ids.
template <class Moved>
std::size_t merge_short(Id* ids, Merge* merges, std::size_t count, const PairTable& pairs,
                        Moved moved) {
    while (count > 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < count; ++i) {
            if (merges[i].rank < merges[best].rank) best = i;
        }
        const std::uint32_t rank = merges[best].rank;
        if (rank >= kMayReachAcross) break;
        // If symbols repeat, many pairs have this rank. Merges them all in one pass from left to
        // right, including pairs that contain the new symbol, unless a new pair has a lower rank.
        std::size_t to = best, from = best;
        for (bool is_next = true; from < count; ++to) {
            if (to != from) moved(to, from);
            ids[to] = ids[from++];
            if (from < count) merges[to] = merges[from - 1];
            while (is_next && from < count && merges[to].rank == rank) {
                ids[to] = merges[to].id;
                ++from;
                if (to > 0) {
                    merges[to - 1] = pairs.find(ids[to - 1], ids[to]);
                    is_next = merges[to - 1].rank > rank;
                }
                if (from < count) {
                    merges[to] = pairs.find(ids[to], ids[from]);
                    is_next = is_next && merges[to].rank >= rank;
                }
            }
        }
        count = to;
    }
    return count;
}

// Merges a row of any length in O(n log n), without recursion. Keeps the positions of each
// mergeable pair in a list by rank, and the ranks in a heap. Processes all positions of a rank from
// left to right, in one pass over memory.
//
// A Row has one cell for each initial symbol: `size()` is the number of cells, `id(place)` the
// symbol that starts in a cell, and `starts(place)` whether a symbol starts there. `next(place)`
// and `before(place)` return the cells of its neighbours. `join(place, middle, id)` merges the
// symbols at `place` and `middle`.
template <class Row>
class LongMerge {
 public:
    LongMerge(Row& row, const PairTable& pairs) : row_(row), pairs_(pairs) {}

    void run() {
        InterruptionPoints<std::size_t{1} << 14> points;
        for (std::size_t i = 0; i + 1 < row_.size(); ++i) {
            note(i, row_.id(i), row_.id(i + 1));
            points.step();
        }
        while (!ranks_.empty()) {
            const std::uint32_t rank = ranks_.top();
            ranks_.pop();
            Places& places = places_[rank];
            places.sort();
            while (!places.empty()) {
                merge(places.pop(), rank);
                points.step();
                // A new merge has a lower rank than the one that made it possible only if the
                // merges were not learned by training.
                if (!ranks_.empty() && ranks_.top() < rank) break;
            }
            if (places.empty()) {
                places_.erase(rank);
            } else {
                ranks_.push(rank);
            }
        }
    }

 private:
    using Place = std::uint32_t;

    // The positions of one rank from left to right. Positions that are found while the rank is
    // being processed go to a heap.
    class Places {
     public:
        bool empty() const { return next_ == noted_.size() && later_.empty(); }

        void add(Place place) {
            if (!sorted_) return noted_.push_back(place);
            later_.push_back(place);
            std::ranges::push_heap(later_, std::greater<>());
        }

        void sort() {
            if (std::exchange(sorted_, true)) return;
            if (!std::ranges::is_sorted(noted_)) std::ranges::sort(noted_);
        }

        Place pop() {
            if (later_.empty() || (next_ < noted_.size() && noted_[next_] < later_.front())) {
                return noted_[next_++];
            }
            std::ranges::pop_heap(later_, std::greater<>());
            const Place place = later_.back();
            later_.pop_back();
            return place;
        }

     private:
        std::vector<Place> noted_, later_;
        std::size_t next_ = 0;
        bool sorted_ = false;
    };

    void note(std::size_t place, Id left, Id right) {
        const std::uint32_t rank = pairs_.find(left, right).rank;
        if (rank >= kMayReachAcross) return;
        const auto [found, is_new] = places_.try_emplace(rank);
        if (is_new) ranks_.push(rank);
        found->second.add(static_cast<Place>(place));
    }

    // Merges the pair at `place`, unless its symbols have changed since it was recorded.
    void merge(std::size_t place, std::uint32_t rank) {
        if (!row_.starts(place)) return;
        const std::size_t middle = row_.next(place);
        if (middle >= row_.size()) return;
        const Merge found = pairs_.find(row_.id(place), row_.id(middle));
        if (found.rank != rank) return;
        row_.join(place, middle, found.id);
        if (place > 0) {
            const std::size_t before = row_.before(place);
            note(before, row_.id(before), found.id);
        }
        const std::size_t after = row_.next(place);
        if (after < row_.size()) note(place, found.id, row_.id(after));
    }

    Row& row_;
    const PairTable& pairs_;
    std::unordered_map<std::uint32_t, Places> places_;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ranks_;
};

}  // namespace toksmith::bpe

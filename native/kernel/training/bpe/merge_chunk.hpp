// Applies learned merges to chunks.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <tuple>
#include <vector>

#include "base/stop.hpp"
#include "models/bpe/pair_table.hpp"

namespace toksmith::bpe {

// Merges the symbols of one chunk: in the order of the merges, each from left to right.
class ChunkMerger {
 public:
    explicit ChunkMerger(const PairTable& merges) : merges_(merges) {}

    // Appends the merged symbols of [begin, end) to `out`.
    void merge(const Id* begin, const Id* end, std::vector<Id>& out) {
        const auto size = static_cast<std::size_t>(end - begin);
        bool any = false;
        for (std::size_t i = 0; i + 1 < size && !any; ++i) {
            any = merges_.find(begin[i], begin[i + 1]).rank != kNoRank;
        }
        if (!any) {
            out.insert(out.end(), begin, end);
        } else if (size <= kShort) {
            merge_short_chunk(begin, size, out);
        } else {
            merge_long_chunk(begin, size, out);
        }
    }

 private:
    static constexpr std::size_t kShort = 64;

    // Looks for the earliest merge of all pairs, again and again.
    void merge_short_chunk(const Id* begin, std::size_t size, std::vector<Id>& out) {
        Id symbols[kShort];
        Merge found[kShort];
        std::copy(begin, begin + size, symbols);
        for (std::size_t i = 0; i + 1 < size; ++i) {
            found[i] = merges_.find(symbols[i], symbols[i + 1]);
        }
        while (size > 1) {
            std::size_t best = 0;
            for (std::size_t i = 1; i + 1 < size; ++i) {
                if (found[i].rank < found[best].rank) best = i;
            }
            if (found[best].rank == kNoRank) break;
            symbols[best] = found[best].id;
            --size;
            for (std::size_t i = best + 1; i < size; ++i) symbols[i] = symbols[i + 1];
            for (std::size_t i = best + 1; i + 1 < size; ++i) found[i] = found[i + 1];
            if (best + 1 < size) found[best] = merges_.find(symbols[best], symbols[best + 1]);
            if (best > 0) found[best - 1] = merges_.find(symbols[best - 1], symbols[best]);
        }
        out.insert(out.end(), symbols, symbols + size);
    }

    // The same with a queue of merges and links between the symbols that are left.
    void merge_long_chunk(const Id* begin, std::size_t size, std::vector<Id>& out) {
        struct Candidate {
            std::uint32_t rank;
            std::size_t place;
            Id left, right;
            bool operator<(const Candidate& other) const {
                return std::tie(rank, place) > std::tie(other.rank, other.place);
            }
        };
        symbols_.assign(begin, begin + size);
        next_.resize(size + 1);
        before_.resize(size + 1);
        for (std::size_t i = 0; i <= size; ++i) {
            next_[i] = i + 1;
            before_[i] = i - 1;
        }
        std::priority_queue<Candidate> queue;
        const auto add = [&](std::size_t place) {
            if (next_[place] >= size) return;
            const Id left = symbols_[place], right = symbols_[next_[place]];
            const Merge merge = merges_.find(left, right);
            if (merge.rank != kNoRank) queue.push({merge.rank, place, left, right});
        };
        InterruptionPoints<1024> points;
        for (std::size_t i = 0; i < size; ++i) {
            points.step();
            add(i);
        }
        while (!queue.empty()) {
            points.step();
            const Candidate best = queue.top();
            queue.pop();
            const std::size_t place = best.place, right = next_[place];
            // Another merge may have taken one of the two symbols.
            if (symbols_[place] != best.left || right >= size || symbols_[right] != best.right) {
                continue;
            }
            symbols_[place] = merges_.find(best.left, best.right).id;
            symbols_[right] = kGone;
            next_[place] = next_[right];
            before_[next_[place]] = place;
            if (place > 0) add(before_[place]);
            add(place);
        }
        for (std::size_t i = 0; i < size; i = next_[i]) out.push_back(symbols_[i]);
    }

    static constexpr Id kGone = 0xFFFFFFFFu;

    const PairTable& merges_;
    std::vector<Id> symbols_;
    std::vector<std::size_t> next_, before_;
};

}  // namespace toksmith::bpe

// The pairs of initial symbols, numbered in the order of their first occurrences.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/huge_page_array.hpp"
#include "base/stop.hpp"
#include "training/bpe/pair_index.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

// Calls visit(left, right, count, place) for each pair of adjacent symbols in the chunks [first,
// last), in the order of the text. Has interruption points.
template <typename Symbol, typename Visit>
void for_each_pair(const Counted<Symbol>& chunks, std::size_t first, std::size_t last,
                   Visit visit) {
    // Symbols of a long chunk between interruption points.
    constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 16;
    InterruptionPoints<256> points;
    std::uint64_t i = first > 0 ? chunks.ends[first - 1] : 0;
    for (std::size_t chunk = first; chunk < last; ++chunk) {
        const std::uint64_t end = chunks.ends[chunk], count = chunks.counts[chunk];
        do {
            for (const std::uint64_t stop = std::min(end, i + kAtOnce); i + 1 < stop; ++i) {
                visit(Id{chunks.symbols[i]}, Id{chunks.symbols[i + 1]}, count, i);
            }
            if (i + 1 < end) interruption_point();
        } while (i + 1 < end);
        points.step();
        i = end;
    }
}

// A two-dimensional array if the alphabet is small, else a hash table.
class FirstPairs {
 public:
    explicit FirstPairs(std::size_t alphabet)
        : alphabet_(alphabet <= kSmall ? alphabet : 0), numbers_(alphabet_ * alphabet_ + 1) {}

    // The number of a pair. For a new pair, it is make().
    template <typename Make>
    std::uint32_t find_or_add(Id left, Id right, Make make) {
        if (alphabet_) {
            std::uint32_t& known = numbers_.data()[left * alphabet_ + right];
            // 0: not seen. Adding 2 maps kNone, the largest number, to 1.
            if (known == 0) known = make() + 2;
            return known - 2;
        }
        const std::uint32_t known = index_.find(left, right);
        if (known != PairIndex::kNone) return known - 2;
        return index_.find_or_add(left, right, make() + 2) - 2;
    }

    std::uint32_t find(Id left, Id right) const {
        return (alphabet_ ? numbers_.data()[left * alphabet_ + right] : index_.find(left, right)) -
               2;
    }

 private:
    static constexpr std::size_t kSmall = 2048;

    std::size_t alphabet_;  // 0: too large for the array
    HugePageArray<std::uint32_t> numbers_;
    PairIndex index_;
};

}  // namespace toksmith::bpe

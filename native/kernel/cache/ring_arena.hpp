// Texts and ids that do not fit into a slot of the table, in a ring: the oldest are overwritten
// first.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>

#include "base/huge_page_array.hpp"
#include "base/id_array.hpp"

namespace toksmith {

class RingArena {
 public:
    // `words`: a power of two. `small`: how many of them lie on small pages.
    RingArena(std::size_t words, std::size_t small) : words_(words), memory_(words, small) {}

    // The number of words that were allocated before it, ever: so a place shows whether it is
    // overwritten.
    using Place = std::uint64_t;

    // Allocates so many adjacent words. `alone`: no other thread uses the ring. If others do,
    // nothing is overwritten, since they may be reading it: then there may be no room.
    std::optional<Place> allocate(std::size_t words, bool alone) {
        Place written = written_.load(std::memory_order_relaxed);
        for (;;) {
            const std::size_t left = words_ - index(written);
            const Place place = written + (words > left ? left : 0), end = place + words;
            if (end - gone_ > words_) {
                if (!alone) return {};
                gone_ = end - words_;
            }
            if (alone) {
                written_.store(end, std::memory_order_relaxed);
                return place;
            }
            if (written_.compare_exchange_weak(written, end, std::memory_order_relaxed))
                return place;
        }
    }
    Id* at(Place place) const { return memory_.data() + index(place); }
    // Whether the words at a place may be overwritten.
    bool is_overwritten(Place place) const { return place < gone_; }

    // While no thread uses it.
    void clear() { gone_ = written_; }

 private:
    std::size_t index(Place place) const { return place & (words_ - 1); }

    std::size_t words_;
    HugePageArray<Id> memory_;
    Place gone_ = 0;  // all before it is overwritten
    alignas(64) std::atomic<Place> written_{0};
};

}  // namespace toksmith

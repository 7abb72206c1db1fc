// Where texts and ids stand that do not fit into a slot of a table: a ring, in which what was
// written longest ago is written over first.
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
    // `words`: a power of two. `small`: how many come on small pages, since no more may be used.
    RingArena(std::size_t words, std::size_t small) : words_(words), memory_(words, small) {}

    // Counts all words that were ever given out, so that it tells whether what stands there does
    // still.
    using Place = std::uint64_t;

    // A place with allocate for so many words side by side. `alone`: nobody else uses it now. If
    // others do, nothing is written over, since they may be reading it: then there may be no
    // allocate.
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
    // What stood there may have been written over.
    bool is_overwritten(Place place) const { return place < gone_; }

    // Nobody uses it now.
    void clear() { gone_ = written_; }

 private:
    std::size_t index(Place place) const { return place & (words_ - 1); }

    std::size_t words_;
    HugePageArray<Id> memory_;
    Place gone_ = 0;  // before it, nothing stands any more
    alignas(64) std::atomic<Place> written_{0};
};

}  // namespace toksmith

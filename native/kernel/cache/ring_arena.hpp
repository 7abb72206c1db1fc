// A ring buffer for texts and ids that do not fit into a slot of the table. The oldest ones are
// overwritten first.
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
    // `words`: the size, a power of two. `small`: how many of the words lie on small pages.
    RingArena(std::size_t words, std::size_t small) : words_(words), memory_(words, small) {}

    // The total number of words allocated before these. It never repeats, so it shows whether the
    // words have been overwritten.
    using Place = std::uint64_t;

    // Allocates `words` adjacent words. `alone`: no other thread uses the ring. Otherwise nothing
    // is overwritten, since other threads may be reading it; then allocating may fail.
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
    // Whether the words at a place have been, or may soon be, overwritten.
    bool is_overwritten(Place place) const { return place < gone_; }

    // Only while no other thread uses the ring.
    void clear() { gone_ = written_; }

 private:
    std::size_t index(Place place) const { return place & (words_ - 1); }

    std::size_t words_;
    HugePageArray<Id> memory_;
    Place gone_ = 0;  // all places below this are overwritten
    alignas(64) std::atomic<Place> written_{0};
};

}  // namespace toksmith

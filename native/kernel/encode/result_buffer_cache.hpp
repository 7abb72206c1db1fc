// Keeps the memory of one large result for the next one. New memory from the system costs page
// faults, up to a quarter of the time to encode a cached text.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "base/id_array.hpp"

namespace toksmith {

class ResultBufferCache {
 public:
    explicit ResultBufferCache(std::size_t most_bytes) : most_(most_bytes / sizeof(Id)) {}

    // Returns an array for the ids of a text of `text_bytes` bytes. The kept array is used only if
    // the text has at least half the size of the one it was made for: otherwise most of it would be
    // wasted.
    IdArray take(std::size_t text_bytes) {
        IdArray ids;
        if (const std::unique_lock lock(guard_, std::try_to_lock);
            lock && kept_.capacity() <= 2 * text_bytes) {
            ids = std::move(kept_);
            ids.clear();
        }
        ids.reserve(room_for(text_bytes));
        return ids;
    }

    // Keeps the larger one of `ids` and the kept array, unless it is above the limit.
    void put(IdArray& ids) {
        if (ids.touched() < kLeast) return;
        const std::unique_lock lock(guard_, std::try_to_lock);
        if (lock && ids.touched() <= most_ && ids.touched() > kept_.touched())
            kept_ = std::move(ids);
    }

    // Frees the kept array, and limits later ones to `most_bytes` bytes.
    void forget(std::size_t most_bytes) {
        most_ = most_bytes / sizeof(Id);
        if (const std::unique_lock lock(guard_, std::try_to_lock); lock) kept_ = IdArray();
    }

 private:
    static constexpr std::size_t kLeast = std::size_t{1} << 18;  // ids of the smallest kept array
    static constexpr std::size_t kMuch = std::size_t{1} << 28;   // bytes of a text

    // The capacity to reserve, in ids: one per byte of text, since few texts have more. Untouched
    // memory takes no pages, but moving a large array when it grows is slow. Small arrays may grow.
    // For huge texts half as much is reserved, since the system may refuse more.
    static std::size_t room_for(std::size_t text_bytes) {
        const std::size_t half = text_bytes / 2;
        return half < kLeast ? half : std::max(half, std::min(text_bytes, kMuch));
    }

    std::mutex guard_;               // try_lock only: a fork may have left it locked for good
    std::atomic<std::size_t> most_;  // ids
    IdArray kept_;
};

}  // namespace toksmith

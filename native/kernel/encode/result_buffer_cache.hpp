// Keeps the memory of one large result that is out of use, for the next one: new memory from the
// system costs page faults, up to a quarter of the time of encoding a known text.
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

    // Returns an array for the ids of a text of so many bytes. The kept one is not used for a text
    // of less than half the size of that for which it was made: most of it would be wasted.
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

    // Keeps the larger of these and the kept ones, if it is not too large.
    void put(IdArray& ids) {
        if (ids.touched() < kLeast) return;
        const std::unique_lock lock(guard_, std::try_to_lock);
        if (lock && ids.touched() <= most_ && ids.touched() > kept_.touched())
            kept_ = std::move(ids);
    }

    // Frees the memory. From now on, at most so many bytes are kept.
    void forget(std::size_t most_bytes) {
        most_ = most_bytes / sizeof(Id);
        if (const std::unique_lock lock(guard_, std::try_to_lock); lock) kept_ = IdArray();
    }

 private:
    static constexpr std::size_t kLeast = std::size_t{1} << 18;  // ids; fewer are not worth it
    static constexpr std::size_t kMuch = std::size_t{1} << 28;   // bytes of a text

    // In ids: one for each byte, since few texts have more. Untouched memory takes no pages, but
    // moving a large array while it grows is slow. Small arrays may grow; for huge texts less is
    // reserved, since the system may refuse it.
    static std::size_t room_for(std::size_t text_bytes) {
        const std::size_t half = text_bytes / 2;
        return half < kLeast ? half : std::max(half, std::min(text_bytes, kMuch));
    }

    std::mutex guard_;               // only tried: a fork may have left it locked for good
    std::atomic<std::size_t> most_;  // ids
    IdArray kept_;
};

}  // namespace toksmith

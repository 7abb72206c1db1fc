// The memory of a large result that is out of use, for the next one: to get it from the system anew
// takes up to a quarter of the time of encoding what is known.
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

    // An array for the ids of a text of so many bytes. The one that is kept is not given to a text
    // that has less than half as many as that for which it was made: much of it would go.
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

    // Keeps the larger one of it and the one that is kept, if that is not too large.
    void put(IdArray& ids) {
        if (ids.touched() < kLeast) return;
        const std::unique_lock lock(guard_, std::try_to_lock);
        if (lock && ids.touched() <= most_ && ids.touched() > kept_.touched())
            kept_ = std::move(ids);
    }

    // Gives the memory back; from now on, keeps at most so many bytes.
    void forget(std::size_t most_bytes) {
        most_ = most_bytes / sizeof(Id);
        if (const std::unique_lock lock(guard_, std::try_to_lock); lock) kept_ = IdArray();
    }

 private:
    static constexpr std::size_t kLeast = std::size_t{1} << 18;  // ids; fewer are not worth it
    static constexpr std::size_t kMuch = std::size_t{1} << 28;   // bytes of a text

    // In ids. One a byte, since hardly a text has more: what is not touched costs nothing, and to
    // move a large array while it grows took a third of a first pass. Small ones may as well grow,
    // and much more than a text needs the system might not promise.
    static std::size_t room_for(std::size_t text_bytes) {
        const std::size_t half = text_bytes / 2;
        return half < kLeast ? half : std::max(half, std::min(text_bytes, kMuch));
    }

    std::mutex guard_;               // only ever tried: a fork may have left it taken for good
    std::atomic<std::size_t> most_;  // ids
    IdArray kept_;
};

}  // namespace toksmith

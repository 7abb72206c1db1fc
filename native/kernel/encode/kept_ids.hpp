// The memory of a large result that is out of use, for the next one: to get it from the system anew
// takes up to a quarter of the time of encoding what is known.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <utility>

#include "ids.hpp"

namespace toksmith {

class KeptIds {
 public:
    explicit KeptIds(std::size_t most_bytes) : most_(most_bytes / sizeof(Id)) {}

    // An array for the ids of a text of so many bytes, with room for as many as most have. The one
    // that is kept is not given to a text for which it is far too large.
    Ids take(std::size_t text_bytes) {
        Ids ids;
        if (const std::unique_lock lock(guard_, std::try_to_lock);
            lock && kept_.touched() <= text_bytes / kBytesPerId) {
            ids = std::move(kept_);
            ids.clear();
        }
        ids.reserve(text_bytes / kBytesPerId);
        return ids;
    }

    // Keeps the larger one of it and the one that is kept, if that is not too large.
    void put(Ids& ids) {
        if (ids.touched() < kLeast) return;
        const std::unique_lock lock(guard_, std::try_to_lock);
        if (lock && ids.touched() <= most_ && ids.touched() > kept_.touched())
            kept_ = std::move(ids);
    }

    // Gives the memory back; from now on, keeps at most so many bytes.
    void forget(std::size_t most_bytes) {
        most_ = most_bytes / sizeof(Id);
        if (const std::unique_lock lock(guard_, std::try_to_lock); lock) kept_ = Ids();
    }

 private:
    static constexpr std::size_t kLeast = std::size_t{1} << 18;  // ids; fewer are not worth it
    static constexpr std::size_t kBytesPerId = 2;  // most texts have fewer ids than one for so many

    std::mutex guard_;               // only ever tried: a fork may have left it taken for good
    std::atomic<std::size_t> most_;  // ids
    Ids kept_;
};

}  // namespace toksmith

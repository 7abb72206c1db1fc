// Reuses the buffers for the ids of a thread's tasks, since new memory from the system costs page
// faults.
#pragma once

#include <cstddef>
#include <utility>
#include <vector>

#include "base/id_array.hpp"

namespace toksmith {

class BufferPool {
 public:
    // Returns an empty array: the buffer that was put last, which is most likely in the processor's
    // cache, or one without memory.
    IdArray take() {
        IdArray ids;
        if (!arrays_.empty()) {
            ids = std::move(arrays_.back());
            arrays_.pop_back();
        }
        return ids;
    }
    void put(IdArray ids) {
        ids.clear();
        arrays_.push_back(std::move(ids));
    }
    // Frees the buffers of more than `bytes` bytes, and all but a few of the others.
    void trim(std::size_t bytes) {
        std::erase_if(arrays_,
                      [=](const IdArray& ids) { return ids.capacity() * sizeof(Id) > bytes; });
        if (arrays_.size() > kFew) arrays_.resize(kFew);
    }

 private:
    static constexpr std::size_t kFew = 2;

    std::vector<IdArray> arrays_;
};

}  // namespace toksmith

// Puts the ids of several threads in order, in one array. Each thread writes the ids of a task into
// its own buffer, which stays in its cache; once the sizes of all tasks before it are known, it
// copies them to their place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/id_array.hpp"
#include "base/parallel.hpp"
#include "encode/buffer_pool.hpp"
#include "encode/stream_copy.hpp"

namespace toksmith {

class OrderedOutput {
 public:
    // `result` must not be used until finish().
    OrderedOutput(IdArray& result, std::size_t tasks, std::size_t threads)
        : result_(result),
          populated_(result.touched()),
          sizes_(tasks, kNotYet),
          places_(tasks + 1),
          shares_(threads) {}

    // Adds the ids of a task. When they are copied, their buffer goes to `spare`.
    void add(std::size_t thread, std::size_t task, IdArray ids, BufferPool& spare) {
        Share& share = shares_[thread];
        const std::size_t size = ids.size();
        share.waiting.push_back({task, std::move(ids)});
        Step step = note(task, size);
        if (step.first < step.last) {
            result_.populate(step.first, step.last);
            step.asked = have_populated(step.last);
        }
        copy(share, step, spare);
    }

    // After all threads have ended: copies the rest. It is little, and not worth a thread, unless
    // `result` had no room for more.
    void finish() {
        const bool is_little = places_.back() <= result_.capacity();
        result_.reserve(places_.back());  // this may move it
        for_each_on_threads(is_little ? 1 : shares_.size(), shares_.size(), [&](std::size_t i) {
            BufferPool spare;
            copy(shares_[i], {.known = sizes_.size(), .asked = result_.capacity()}, spare);
        });
        result_.resize(std::max(populated_, places_.back()));  // so far it is touched
        result_.resize(places_.back());
    }

 private:
    static constexpr std::size_t kNotYet = ~std::size_t{0};
    // A result with room for so many ids does not stay in the cache.
    static constexpr std::size_t kFar = std::size_t{1} << 23;
    // Pages are populated so many ids before they are written: about a huge page.
    static constexpr std::size_t kAhead = pages::kHuge / sizeof(Id);

    struct Waiting {
        std::size_t task;
        IdArray ids;
    };
    struct alignas(64) Share {
        std::vector<Waiting> waiting;
    };

    // The number of tasks whose places are known, from the first; the end of the populated pages;
    // and the range that this thread is to populate. One thread does it for all, before others
    // write there: if two touch a page at the same time, both clear one, and one is dropped.
    struct Step {
        std::size_t known, asked, first = 0, last = 0;
    };
    Step note(std::size_t task, std::size_t size) {
        const std::scoped_lock lock(guard_);
        sizes_[task] = size;
        for (; known_ < sizes_.size() && sizes_[known_] != kNotYet; ++known_) {
            places_[known_ + 1] = places_[known_] + sizes_[known_];
        }
        const std::size_t place = places_[known_];
        const std::size_t expected = known_ ? place / known_ * sizes_.size() : 0;
        const std::size_t wanted = std::min(expected, place + kAhead);
        if (is_populating_ || wanted <= populated_) return {known_, populated_};
        is_populating_ = true;
        return {known_, populated_, populated_, result_.end_of_pages(populated_, wanted)};
    }
    std::size_t have_populated(std::size_t last) {
        const std::scoped_lock lock(guard_);
        is_populating_ = false;
        return populated_ = last;
    }

    // Copies the tasks whose places are known, as far as pages are populated.
    void copy(Share& share, const Step& step, BufferPool& spare) {
        auto next = share.waiting.begin();
        for (; next != share.waiting.end() && next->task <= step.known; ++next) {
            const std::size_t place = places_[next->task], size = next->ids.size();
            if (place + size > step.asked) break;
            copy(next->ids, place);
            spare.put(std::move(next->ids));
        }
        share.waiting.erase(share.waiting.begin(), next);
    }
    void copy(const IdArray& ids, std::size_t place) {
        const std::size_t size = ids.size();
        if (size == 0) return;  // there may be no memory at all
        Id* const to = result_.data() + place;
        if (result_.capacity() < kFar) {
            std::memcpy(to, ids.data(), size * sizeof(Id));
        } else {
            stream_copy(ids.data(), size, to);
        }
    }

    IdArray& result_;
    std::mutex guard_;
    std::size_t known_ = 0;
    std::size_t populated_;  // the end of the populated pages, in ids
    bool is_populating_ = false;
    std::vector<std::size_t> sizes_, places_;
    std::vector<Share> shares_;
};

}  // namespace toksmith

// Collects the ids of several threads in one array, in the order of tasks. Each thread writes the
// ids of a task to its own buffer, which stays in its processor's cache. Once the sizes of all
// earlier tasks are known, it copies them to their place.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <mutex>
#include <utility>
#include <vector>

#include "base/id_array.hpp"
#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "encode/buffer_pool.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace toksmith {

// Copies ids with non-temporal stores, for results that are too large to stay in the processor's
// cache until they are read.
inline void stream_copy(const Id* from, std::size_t count, Id* to) {
#if defined(__SSE2__)
    constexpr std::size_t kLine = 64 / sizeof(Id), kPart = sizeof(__m128i) / sizeof(Id);
    for (; count > 0 && reinterpret_cast<std::uintptr_t>(to) % 64 != 0; --count) *to++ = *from++;
    for (; count >= kLine; count -= kLine, from += kLine, to += kLine) {
        for (std::size_t i = 0; i < kLine; i += kPart) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
        }
    }
    _mm_sfence();  // before another thread reads the ids
#endif
    if (count > 0) std::memcpy(to, from, count * sizeof(Id));
}

class OrderedOutput {
 public:
    // `result` must not be used until finish() returns.
    OrderedOutput(IdArray& result, std::size_t tasks, std::size_t threads)
        : result_(result),
          populated_(result.touched()),
          sizes_(tasks, kNotYet),
          places_(tasks + 1),
          shares_(threads) {}

    // Adds the ids of a task. Once they are copied, their buffer goes to `spare`.
    void add(std::size_t thread, std::size_t task, IdArray ids, BufferPool& spare) {
        Share& share = shares_[thread];
        const std::size_t size = ids.size();
        share.waiting.push_back({task, std::move(ids)});
        Step step = record(task, size);
        if (step.first < step.last) {
            result_.populate(step.first, step.last);
            step.populated = have_populated(step.last);
        }
        copy(share, step, spare);
    }

    // Copies the remaining ids. Call it after all threads have ended. Usually few ids remain,
    // unless `result` was too small; then the copying is shared among threads.
    void finish() {
        const bool is_little = places_.back() <= result_.capacity();
        result_.resize(populated_);
        result_.reserve(places_.back());  // may move the array
        for_each_on_threads(is_little ? 1 : shares_.size(), shares_.size(), [&](std::size_t i) {
            BufferPool spare;
            copy(shares_[i], {.known = sizes_.size(), .populated = result_.capacity()}, spare);
        });
        result_.resize(places_.back());
    }

 private:
    static constexpr std::size_t kNotYet = ~std::size_t{0};
    // The size in ids from which a result does not stay in the processor's cache.
    static constexpr std::size_t kStreamedSize = std::size_t{1} << 23;
    // Pages are populated this many ids before they are written: about one huge page.
    static constexpr std::size_t kAhead = pages::kHuge / sizeof(Id);

    struct Waiting {
        std::size_t task;
        IdArray ids;
    };
    struct alignas(64) Share {
        std::vector<Waiting> waiting;
    };

    // What a thread has to do next: copy the tasks before `known`, as far as pages are populated
    // (`populated`), and populate the ids [first, last). Only one thread at a time populates, ahead
    // of all writers: if two threads touch the same page at once, both clear a page, and one is
    // discarded.
    struct Step {
        std::size_t known, populated, first = 0, last = 0;
    };
    Step record(std::size_t task, std::size_t size) {
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
            if (place + size > step.populated) break;
            interruption_point();
            copy(next->ids, place);
            spare.put(std::move(next->ids));
        }
        share.waiting.erase(share.waiting.begin(), next);
    }
    void copy(const IdArray& ids, std::size_t place) {
        const std::size_t size = ids.size();
        if (size == 0) return;  // an empty array may have no memory
        Id* const to = result_.data() + place;
        if (result_.capacity() < kStreamedSize) {
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

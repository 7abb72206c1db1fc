// One array of what several threads encode: runs of the work, in the order of the work. Each thread
// writes into an array of its own, which stays near; as soon as all runs before it are done, the
// place of a run is known, and its thread copies it there.
#pragma once

#include <cstddef>
#include <cstring>
#include <mutex>
#include <vector>

#include "encode/copy_past.hpp"
#include "ids.hpp"
#include "parallel/parallel.hpp"

namespace toksmith {

class InOrder {
 public:
    // `result` is not to be touched meanwhile.
    InOrder(Ids& result, std::size_t runs, std::size_t threads)
        : result_(result), sizes_(runs, kNotYet), places_(runs + 1), shares_(threads) {}

    // Where a thread appends the ids of its next run.
    Ids& ids(std::size_t thread) { return shares_[thread].ids; }

    // The thread has appended a run.
    void add(std::size_t thread, std::size_t run) {
        Share& share = shares_[thread];
        const std::size_t start = share.waiting.empty() ? 0 : share.waiting.back().end;
        share.waiting.push_back({run, start, share.ids.size()});
        const std::size_t known = note(run, share.ids.size() - start);
        copy(share, known);
    }

    // When all threads have ended: copies what is left, on so many threads.
    void finish() {
        result_.reserve(places_.back());  // it may have to move
        for_each_on_threads(shares_.size(), shares_.size(),
                            [&](std::size_t i) { copy(shares_[i], sizes_.size()); });
        result_.resize(places_.back());
    }

 private:
    static constexpr std::size_t kNotYet = ~std::size_t{0};
    // Of a result with room for so many ids, none stays near.
    static constexpr std::size_t kFar = std::size_t{1} << 22;

    struct Waiting {
        std::size_t run, start, end;  // of the ids of its thread
    };
    struct alignas(64) Share {
        Ids ids;
        std::vector<Waiting> waiting;
        std::size_t copied = 0;  // of those that wait

        // Takes out what has been copied, once that is more than what waits: a thread that is
        // ahead of the others all the time would fill more and more memory.
        void close_up() {
            if (copied == 0) return;
            const std::size_t gone = waiting[copied - 1].end, left = ids.size() - gone;
            if (left > gone) return;
            if (left > 0) std::memmove(ids.data(), ids.data() + gone, left * sizeof(Id));
            ids.resize(left);
            waiting.erase(waiting.begin(), waiting.begin() + static_cast<std::ptrdiff_t>(copied));
            for (Waiting& run : waiting) {
                run.start -= gone;
                run.end -= gone;
            }
            copied = 0;
        }
    };

    // Returns how many runs, from the first, are known.
    std::size_t note(std::size_t run, std::size_t size) {
        const std::scoped_lock lock(guard_);
        sizes_[run] = size;
        for (; known_ < sizes_.size() && sizes_[known_] != kNotYet; ++known_) {
            places_[known_ + 1] = places_[known_] + sizes_[known_];
        }
        return known_;
    }

    void copy(Share& share, std::size_t known) {
        for (; share.copied < share.waiting.size(); ++share.copied) {
            const auto [run, start, end] = share.waiting[share.copied];
            const std::size_t size = end - start;
            if (run > known || places_[run] + size > result_.capacity()) return share.close_up();
            const std::size_t place = places_[run];
            if (size == 0) continue;  // there may be no memory at all
            Id* const to = result_.data() + place;
            if (place + size > result_.touched()) pages::ask_for(to, to + size);
            const Id* const from = share.ids.data() + start;
            if (result_.capacity() < kFar) {
                std::memcpy(to, from, size * sizeof(Id));
            } else {
                copy_past_caches(from, size, to);
            }
        }
        share.close_up();
    }

    Ids& result_;
    std::mutex guard_;
    std::size_t known_ = 0;
    std::vector<std::size_t> sizes_, places_;
    std::vector<Share> shares_;
};

}  // namespace toksmith

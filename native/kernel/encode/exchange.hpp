// What two threads tell each other while they encode: what new chunks became, so that what one has
// found out, the other need not. Each has a cache of its own, which nobody else touches; news are
// handed over between runs of the work.
#pragma once

#include <cstddef>
#include <mutex>
#include <utility>
#include <vector>

#include "encode/loops.hpp"

namespace toksmith {

class Exchange {
 public:
    explicit Exchange(std::size_t threads) : inboxes_(threads) {}

    // Whether a thread has another one to talk to. They go in pairs: what all tell is soon more
    // than what one of many has use for.
    bool is_paired(std::size_t thread) const { return (thread ^ 1) < inboxes_.size(); }

    // The worker of a paired thread tells what it has found out since, and keeps what it is told.
    void meet(std::size_t thread, Worker& worker) {
        inboxes_[thread ^ 1].put(worker.news);
        worker.news.clear();
        worker.cache.keep(inboxes_[thread].take());
    }

 private:
    class alignas(64) Inbox {
     public:
        void put(const ChunkCache::News& news) {
            const std::scoped_lock lock(guard_);
            if (waiting_.size() < kMost) waiting_.insert(waiting_.end(), news.begin(), news.end());
        }
        // For the thread whose inbox it is; valid until it takes again.
        const ChunkCache::News& take() {
            taken_.clear();
            const std::scoped_lock lock(guard_);
            std::swap(taken_, waiting_);
            return taken_;
        }

     private:
        // A thread that is stopped for long misses some.
        static constexpr std::size_t kMost = std::size_t{1} << 16;

        std::mutex guard_;
        ChunkCache::News waiting_, taken_;
    };

    std::vector<Inbox> inboxes_;
};

}  // namespace toksmith

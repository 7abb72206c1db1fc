// The workers of a call, and their caches. They share one as long as it has room for what they
// meet, so that none works out what another has. What comes when it has none is not kept there; so
// from the next call on, each worker has a cache of its own, which lets go of what is out of use.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "encode/loops.hpp"

namespace toksmith {

class Crew {
 public:
    // `cache_bytes`: of each cache, at most. The model is to outlive it.
    Crew(const Model& model, std::size_t cache_bytes) : model_(model), cache_bytes_(cache_bytes) {}

    std::size_t cache_bytes() const { return cache_bytes_; }

    // A text of so many bytes comes, for so many threads.
    void begin(std::size_t threads, std::size_t bytes) {
        if (shares_ && threads > 1 && !caches_.empty() && caches_[0]->chunks.is_crowded()) {
            shares_ = false;
            workers_.resize(1);
        }
        while (workers_.size() < threads) {
            if (caches_.empty() || !shares_)
                caches_.push_back(std::make_unique<Caches>(cache_bytes_, bytes));
            workers_.push_back(std::make_unique<Worker>(model_, *caches_.back()));
        }
        if (shares_) {
            caches_[0]->chunks.begin(bytes, threads);
        } else {
            for (std::size_t i = 0; i < threads; ++i) caches_[i]->chunks.begin(bytes / threads, 1);
        }
    }
    Worker& worker(std::size_t thread) { return *workers_[thread]; }

    // Frees each buffer larger than `bytes`.
    void trim(std::size_t bytes) {
        for (const auto& worker : workers_) worker->trim(bytes);
    }
    // How much its caches may hold, in lines: of two crews, the one with more knows more.
    std::size_t lines() const {
        std::size_t lines = 0;
        for (const auto& caches : caches_) lines += caches->chunks.lines();
        return lines;
    }

 private:
    const Model& model_;
    std::size_t cache_bytes_;
    bool shares_ = true;  // one cache
    std::vector<std::unique_ptr<Caches>> caches_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace toksmith

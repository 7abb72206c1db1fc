// The workers of a call and the cache that they share.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "encode/kernels.hpp"

namespace toksmith {

class WorkerSet {
 public:
    // `cache_bytes`: the maximum size of the cache; `text`: the size of the first text, in bytes.
    // The model must outlive the WorkerSet.
    WorkerSet(const Model& model, std::size_t cache_bytes, std::size_t text)
        : model_(model), cache_bytes_(cache_bytes), caches_(cache_bytes, text) {}

    std::size_t cache_bytes() const { return cache_bytes_; }

    // Call it before `threads` threads encode a text of `bytes` bytes.
    void begin(std::size_t threads, std::size_t bytes) {
        while (workers_.size() < threads)
            workers_.push_back(std::make_unique<Worker>(model_, caches_));
        caches_.chunks.begin(bytes, threads);
    }
    Worker& worker(std::size_t thread) { return *workers_[thread]; }

    // Frees each buffer of more than `bytes` bytes.
    void trim(std::size_t bytes) {
        for (const auto& worker : workers_) worker->trim(bytes);
    }
    // The size of the cache. The larger of two caches has more entries.
    std::size_t buckets() const { return caches_.chunks.buckets(); }

 private:
    const Model& model_;
    std::size_t cache_bytes_;
    Caches caches_;
    std::vector<std::unique_ptr<Worker>> workers_;
};

}  // namespace toksmith

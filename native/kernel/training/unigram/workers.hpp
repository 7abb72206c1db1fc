// Runs jobs on several threads.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "base/stop.hpp"

namespace toksmith::unigram {

struct Workers {
    std::size_t threads;

    // Calls work(thread, job) for each job, in no fixed order, with an interruption point between
    // jobs.
    void run(std::size_t jobs, const std::function<void(std::size_t, std::size_t)>& work) const;
};

// Enlarges a vector, with interruption points: clearing much memory takes long.
template <typename T>
void grow(std::vector<T>& values, std::size_t size) {
    values.reserve(size);
    InterruptionPoints<(1 << 20)>().in_parts(
        size - values.size(),
        [&](std::size_t first, std::size_t last) { values.resize(values.size() + last - first); });
}

}  // namespace toksmith::unigram

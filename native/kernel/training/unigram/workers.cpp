#include "training/unigram/workers.hpp"

#include <algorithm>
#include <atomic>

#include "base/parallel.hpp"

namespace toksmith::unigram {

void Workers::run(std::size_t jobs,
                  const std::function<void(std::size_t, std::size_t)>& work) const {
    std::atomic<std::size_t> next = 0;
    run_on_threads(std::min(threads, jobs), [&](std::size_t thread) {
        for (std::size_t job; (job = next++) < jobs;) {
            interruption_point();
            work(thread, job);
        }
    });
}

}  // namespace toksmith::unigram

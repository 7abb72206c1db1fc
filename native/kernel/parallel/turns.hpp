// Who does which run of a job. Threads take turns, so that each meets the same runs when the job
// comes again, and its cache knows them; where one falls behind, others take over from it.
#pragma once

#include <algorithm>
#include <cstddef>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

namespace toksmith {

class Turns {
 public:
    Turns(std::size_t runs, std::size_t threads) : runs_(runs), next_(threads) {
        std::iota(next_.begin(), next_.end(), std::size_t{0});
    }

    // The run that a thread does next, if there is one: its own, or the first of all that nobody
    // has begun.
    std::optional<std::size_t> take(std::size_t thread) {
        const std::scoped_lock lock(guard_);
        std::size_t* from = &next_[thread];
        std::size_t* const last = &*std::min_element(next_.begin(), next_.end());
        if (*from >= runs_ || *from > *last + kAhead * next_.size()) from = last;
        if (*from >= runs_) return {};
        const std::size_t run = *from;
        *from += next_.size();
        return run;
    }

 private:
    // So many of its runs a thread may be ahead of another: what it has done waits to be put in
    // order.
    static constexpr std::size_t kAhead = 8;

    std::size_t runs_;
    std::mutex guard_;
    std::vector<std::size_t> next_;  // of each thread
};

}  // namespace toksmith

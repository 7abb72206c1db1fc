// Who does which run of a job. Threads take turns, so that each meets the same runs when the job
// comes again, and its cache knows them; where one falls behind, others take over from it.
//
// When a run fails, runs behind it are stopped or not begun, and those before it still end: so the
// failure that is reported does not depend on threads.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <mutex>
#include <numeric>
#include <optional>
#include <vector>

#include "parallel/stop.hpp"

namespace toksmith {

class Turns {
 public:
    Turns(std::size_t runs, std::size_t threads) : runs_(runs), next_(threads), at_work_(threads) {
        std::iota(next_.begin(), next_.end(), std::size_t{0});
    }

    // By each thread: calls work(run) for one run after the other.
    template <typename Work>
    void work_off(std::size_t thread, const Work& work) {
        Stop* const outer = Stop::current();
        Stop stop(outer);
        const Stop::Scope scope(stop);
        while (const std::optional<std::size_t> run = take(thread, &stop)) {
            try {
                work(*run);
            } catch (const Stopped&) {
                leave(thread);
                if (outer && outer->requested()) throw;
                return;
            } catch (...) {
                leave(thread);
                if (outer && outer->requested()) throw;
                keep_failure(*run);
                return;
            }
        }
    }
    // When all threads have ended: throws what the first run that failed did.
    void rethrow_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }

    // The run that a thread does next, if there is one: its own, or the first of all that nobody
    // has begun. `stop` ends it.
    std::optional<std::size_t> take(std::size_t thread, Stop* stop = nullptr) {
        const std::scoped_lock lock(guard_);
        at_work_[thread] = {};
        std::size_t* from = &next_[thread];
        std::size_t* const last = &*std::min_element(next_.begin(), next_.end());
        if (*from >= runs_ || *from > *last + kAhead * next_.size()) from = last;
        if (*from >= runs_) return {};
        const std::size_t run = *from;
        *from += next_.size();
        at_work_[thread] = {run, stop};
        return run;
    }

 private:
    void leave(std::size_t thread) {
        const std::scoped_lock lock(guard_);
        at_work_[thread] = {};
    }
    void keep_failure(std::size_t run) {
        const std::scoped_lock lock(guard_);
        if (run >= runs_) return;  // one before it has failed
        failure_ = std::current_exception();
        runs_ = run;
        for (const AtWork& other : at_work_) {
            if (other.stop && other.run > run) other.stop->request();
        }
    }

    struct AtWork {
        std::size_t run = 0;
        Stop* stop = nullptr;  // null: at no run
    };

    // So many of its runs a thread may be ahead of another: what it has done waits to be put in
    // order.
    static constexpr std::size_t kAhead = 8;

    std::mutex guard_;
    std::size_t runs_;               // before the first that has failed
    std::vector<std::size_t> next_;  // of each thread
    std::vector<AtWork> at_work_;    // by thread
    std::exception_ptr failure_;     // of the first run that has failed
};

}  // namespace toksmith

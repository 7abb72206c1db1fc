// Distributes the tasks of a job to threads, in ascending order.
//
// When a task fails, later tasks are stopped or not started. Earlier tasks have all started, and
// run to completion. So the reported error is always that of the first task that fails, however the
// threads are scheduled.
#pragma once

#include <cstddef>
#include <exception>
#include <mutex>
#include <optional>
#include <vector>

#include "base/stop.hpp"

namespace toksmith {

class TaskQueue {
 public:
    TaskQueue(std::size_t tasks, std::size_t threads) : end_(tasks), running_(threads) {}

    // The loop of one thread: takes tasks and calls work(task) for each.
    template <typename Work>
    void work_off(std::size_t thread, const Work& work) {
        Stop* const outer = Stop::current();
        Stop stop(outer);
        const Stop::Scope scope(stop);
        while (const std::optional<std::size_t> task = take(thread, stop)) {
            try {
                work(*task);
            } catch (...) {
                leave(thread);
                if (outer && outer->requested()) throw;
                if (!stop.requested()) keep_failure(*task);
                return;
            }
        }
    }
    // Rethrows the exception of the first task that failed. Call it after all threads have ended.
    void rethrow_failure() const {
        if (failure_) std::rethrow_exception(failure_);
    }

 private:
    // The next task, or nothing if none is left. `stop` is requested if an earlier task fails.
    std::optional<std::size_t> take(std::size_t thread, Stop& stop) {
        const std::scoped_lock lock(guard_);
        running_[thread] = {};
        if (next_ >= end_) return {};
        running_[thread] = {next_, &stop};
        return next_++;
    }
    void leave(std::size_t thread) {
        const std::scoped_lock lock(guard_);
        running_[thread] = {};
    }
    void keep_failure(std::size_t task) {
        const std::scoped_lock lock(guard_);
        if (task >= end_) return;  // an earlier task has failed
        failure_ = std::current_exception();
        end_ = task;
        for (const Running& other : running_) {
            if (other.stop && other.task > task) other.stop->request();
        }
    }

    struct Running {
        std::size_t task = 0;
        Stop* stop = nullptr;  // null: the thread runs no task
    };

    std::mutex guard_;
    std::size_t next_ = 0;
    std::size_t end_;               // tasks before it are run; a failed task lowers it to its index
    std::vector<Running> running_;  // by thread
    std::exception_ptr failure_;    // the exception of task end_
};

}  // namespace toksmith

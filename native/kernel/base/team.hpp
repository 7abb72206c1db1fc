// A pool of waiting threads, for many short jobs that each take less time than starting a thread.
// The threads end with the Team, so forking stays safe.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop.hpp"

namespace toksmith {

class Team {
 public:
    // `threads` includes the calling thread. The team has fewer if the system cannot start all.
    explicit Team(std::size_t threads);
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team();

    std::size_t size() const { return others_.size() + 1; }

    // Calls work(i) for each i below `parts`, which is less than 2^16. The calling thread runs all
    // parts that no other thread has started, so it never waits for a thread to wake up. If a part
    // throws, the exception is rethrown here after all parts have ended. Interruption points work
    // in all parts.
    template <typename Work>
    void run(std::size_t parts, const Work& work) {
        if (parts == 1) {
            work(0);
        } else {
            share(parts, work);
        }
    }

 private:
    void share(std::size_t parts, const std::function<void(std::size_t)>& work);
    void serve();
    bool do_part();
    void poll();
    void keep_failure();

    // Upper half: the number of parts; lower half: how many of them have started. A thread that
    // increments it owns a part of the job in work_, because no other job starts before this part
    // is done.
    std::atomic<std::uint32_t> job_{0};
    std::atomic<std::size_t> done_{0};
    const std::function<void(std::size_t)>* work_ = nullptr;
    Stop* stop_ = nullptr;  // the caller's
    std::mutex guard_;      // protects failure_
    std::exception_ptr failure_;
    std::vector<std::thread> others_;
};

}  // namespace toksmith

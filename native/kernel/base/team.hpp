// Threads that wait for the next job: for many short jobs, each of which takes less time than
// starting a thread. They end with the team, so that forking stays safe.
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
    // So many threads, the calling one among them; fewer where the system gives no more.
    explicit Team(std::size_t threads);
    Team(const Team&) = delete;
    Team& operator=(const Team&) = delete;
    ~Team();

    std::size_t size() const { return others_.size() + 1; }

    // Calls work(i) for each i below `parts`, fewer than 2^16. The calling thread does all that no
    // other has begun, so it never waits for one to wake up. What one of them throws is thrown
    // here, after all have ended. Interruption points work on all of them.
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

    // How many parts there are, and in the lower half how many of them were begun: who raises that
    // has a part of the job whose work_ it is, because no other job starts before it is done.
    std::atomic<std::uint32_t> job_{0};
    std::atomic<std::size_t> done_{0};
    const std::function<void(std::size_t)>* work_ = nullptr;
    Stop* stop_ = nullptr;  // of the caller
    std::mutex guard_;      // of failure_
    std::exception_ptr failure_;
    std::vector<std::thread> others_;
};

}  // namespace toksmith

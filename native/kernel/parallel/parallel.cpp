#include "parallel/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <exception>
#include <mutex>
#include <system_error>
#include <thread>
#include <vector>

namespace toksmith {

void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& work) {
    std::exception_ptr failure;
    std::mutex guard;
    const auto run = [&](std::size_t index) {
        try {
            work(index);
        } catch (...) {
            const std::lock_guard lock(guard);
            if (!failure) failure = std::current_exception();
        }
    };
    std::vector<std::thread> others;
    others.reserve(threads);
    for (std::size_t index = 1; index < threads; ++index) {
        try {
            others.emplace_back(run, index);
        } catch (const std::system_error&) {
            break;  // no more threads to be had: those that run do the work
        }
    }
    run(0);
    for (std::thread& other : others) other.join();
    if (failure) std::rethrow_exception(failure);
}

void for_each_on_threads(std::size_t threads, std::size_t count,
                         const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    run_on_threads(std::min(threads, count), [&](std::size_t) {
        for (std::size_t i = next++; i < count; i = next++) work(i);
    });
}

}  // namespace toksmith

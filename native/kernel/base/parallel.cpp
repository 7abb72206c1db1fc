#include "base/parallel.hpp"

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "base/stop.hpp"

namespace toksmith {

void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& work) {
    if (threads <= 1) return work(0);
    Stop stop(Stop::current());
    std::exception_ptr failure;
    bool was_stopped = false;
    std::size_t running = 0;
    std::mutex guard;  // protects the following three members
    std::condition_variable ended;
    const auto keep_failure = [&](std::exception_ptr thrown) {
        const std::lock_guard lock(guard);
        if (!failure) failure = std::move(thrown);
        stop.request();
    };
    const auto run = [&](std::size_t index) {
        const Stop::Scope scope(stop);
        try {
            work(index);
        } catch (const Stopped&) {
            const std::lock_guard lock(guard);
            was_stopped = true;
        } catch (...) {
            keep_failure(std::current_exception());
        }
    };
    std::vector<std::thread> others;
    others.reserve(threads);
    for (std::size_t index = 1; index < threads; ++index) {
        try {
            const std::lock_guard lock(guard);
            others.emplace_back([&, index] {
                run(index);
                const std::lock_guard lock_at_end(guard);
                --running;
                ended.notify_one();
            });
            ++running;
        } catch (...) {
            break;  // no thread or no memory for one: the threads already running do the work
        }
    }
    run(0);
    std::unique_lock lock(guard);
    while (!ended.wait_for(lock, Stop::kInterval, [&] { return running == 0; })) {
        lock.unlock();
        try {
            stop.poll();
        } catch (...) {
            keep_failure(std::current_exception());
        }
        lock.lock();
    }
    lock.unlock();
    for (std::thread& other : others) other.join();
    if (!failure && !was_stopped) return;
    stop.rethrow_failure();
    if (failure) std::rethrow_exception(failure);
    throw Stopped();
}

void for_each_on_threads(std::size_t threads, std::size_t count,
                         const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    run_on_threads(std::min(threads, count), [&](std::size_t) {
        for (std::size_t i = next++; i < count; i = next++) {
            work(i);
            interruption_point();
        }
    });
}

}  // namespace toksmith

// Ends long work early: on Ctrl-C, or after another thread of the same call has failed.
//
// A call that may take long creates one Stop and a Scope for it. The code below calls
// interruption_point() between pieces of work, and needs no parameter for it. run_on_threads()
// gives each thread a Stop nested in the caller's, and requests it when one of the threads fails.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>
#include <utility>

namespace toksmith {

// Thrown at the interruption points of a stopped call. The caller never sees it, but the exception
// that poll() or another thread threw.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "the call was stopped"; }
};

class Stop {
 public:
    // Throws to end the call. Returns false if it need not be called again. Only the thread that
    // made the Stop calls it, at most once per kInterval.
    using Poll = std::function<bool()>;
    static constexpr std::chrono::milliseconds kInterval{25};

    // A Stop for a whole call.
    explicit Stop(Poll poll = {});
    // A Stop for a part of a call. It is also requested when `outer` is (null: it has none).
    explicit Stop(Stop* outer);
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

    // Thread-safe.
    void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
    bool requested() const noexcept;
    // Calls poll(), then throws Stopped if a stop was requested.
    void check();

    // Calls poll_ if kInterval has passed and this is the thread that made the Stop.
    void poll();
    // Rethrows the exception of poll(), on the thread where it was thrown.
    void rethrow_failure() const;

    // The innermost Stop of this thread, which interruption_point() checks; null if there is none.
    static Stop* current() noexcept;

    // Makes a Stop the current one of this thread, as long as the Scope exists.
    class Scope {
     public:
        explicit Scope(Stop& stop) noexcept;
        ~Scope();
        Scope(const Scope&) = delete;
        Scope& operator=(const Scope&) = delete;

     private:
        Stop* before_;
    };

 private:
    using Clock = std::chrono::steady_clock;

    std::atomic<bool> requested_{false};
    Stop* outer_ = nullptr;
    // The outermost Stop, whose members below are used, and the thread that made it.
    Stop* root_ = this;
    std::thread::id caller_;
    Poll poll_;
    Clock::time_point next_poll_{};
    std::exception_ptr failure_;
};

// Checks the current Stop of this thread. Costs about 30 ns, so call it once per 10 µs of work.
void interruption_point();

// Calls interruption_point() once per `kSteps` steps of a loop.
template <std::size_t kSteps>
class InterruptionPoints {
 public:
    void step() {
        if (--left_ == 0) [[unlikely]] {
            left_ = kSteps;
            interruption_point();
        }
    }
    // Calls work(first, last) for consecutive parts of [0, size), of which the last may be empty.
    // Each element counts as a step.
    template <typename Work>
    void in_parts(std::size_t size, const Work& work) {
        std::size_t first = 0;
        while (size - first >= left_) [[unlikely]] {
            const std::size_t last = first + std::exchange(left_, kSteps);
            work(first, last);
            interruption_point();
            first = last;
        }
        work(first, size);
        left_ -= size - first;
    }

 private:
    std::size_t left_ = kSteps;
};

// Wraps the comparison `before` of a long sort, so that each comparison counts as a step.
template <std::size_t kSteps, typename Before>
auto with_interruption(InterruptionPoints<kSteps>& points, Before before) {
    return [&points, before](const auto& a, const auto& b) {
        points.step();
        return before(a, b);
    };
}

}  // namespace toksmith

// Ending long work early: on Ctrl-C, or because another thread of the same call has failed.
//
// A call that may take long makes one Stop and a Scope for it. Everything below it calls
// interruption_point() between pieces of work; nothing has to be passed down. run_on_threads()
// gives each of its threads a Stop inside that of its caller, and requests it when one fails.
#pragma once

#include <atomic>
#include <chrono>
#include <cstddef>
#include <exception>
#include <functional>
#include <thread>

namespace toksmith {

// Thrown at the interruption points of a call that was stopped. What the caller gets is the reason:
// the exception that poll() or another thread threw.
struct Stopped : std::exception {
    const char* what() const noexcept override { return "the call was stopped"; }
};

class Stop {
 public:
    // Throws to end the call, and returns whether to be called again. Only the thread that made the
    // Stop calls it, at most once per kInterval.
    using Poll = std::function<bool()>;
    static constexpr std::chrono::milliseconds kInterval{50};

    // For a whole call.
    explicit Stop(Poll poll = {});
    // For a part of a call: ends with `outer` (null: with nothing), but can be requested alone.
    explicit Stop(Stop* outer);
    Stop(const Stop&) = delete;
    Stop& operator=(const Stop&) = delete;

    // Any thread may call these.
    void request() noexcept { requested_.store(true, std::memory_order_relaxed); }
    bool requested() const noexcept;
    // Polls, and throws Stopped if it was requested.
    void check();

    // Calls poll() if it is due and this is its thread.
    void poll();
    // Throws what poll() threw, on the thread that it threw it on.
    void rethrow_failure() const;

    // The Stop that interruption_point() checks on this thread, or null.
    static Stop* current() noexcept;

    // Makes a Stop the current one of this thread.
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
    // Of the outermost Stop, and for its thread alone.
    Stop* root_ = this;
    std::thread::id caller_;
    Poll poll_;
    Clock::time_point next_poll_{};
    std::exception_ptr failure_;
};

// Checks the Stop of this thread, if it has one. Costs some 30 ns: for every 10 µs of work, say.
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

 private:
    std::size_t left_ = kSteps;
};

// For sorting much at once: compares as `before` does, and steps.
template <std::size_t kSteps, typename Before>
auto with_interruption(InterruptionPoints<kSteps>& points, Before before) {
    return [&points, before](const auto& a, const auto& b) {
        points.step();
        return before(a, b);
    };
}

}  // namespace toksmith

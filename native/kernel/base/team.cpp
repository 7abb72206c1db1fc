#include "base/team.hpp"

#include <optional>
#include <utility>

namespace toksmith {
namespace {

constexpr std::uint32_t kBegun = 0xFFFF, kEnd = 0xFFFFFFFF;
constexpr int kSpins = 2000;  // about 0.1 ms, which is what waking up takes

void relax() {
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
}

}  // namespace

Team::Team(std::size_t threads) {
    others_.reserve(threads);
    for (std::size_t i = 1; i < threads; ++i) {
        try {
            others_.emplace_back([this] { serve(); });
        } catch (...) {
            break;  // no thread or no memory for one: the team is smaller
        }
    }
}

Team::~Team() {
    job_.store(kEnd, std::memory_order_release);
    job_.notify_all();
    for (std::thread& other : others_) other.join();
}

void Team::share(std::size_t parts, const std::function<void(std::size_t)>& work) {
    work_ = &work;
    stop_ = Stop::current();
    done_.store(0, std::memory_order_relaxed);
    job_.store(static_cast<std::uint32_t>(parts << 16), std::memory_order_release);
    job_.notify_all();
    while (do_part()) {
    }
    for (int spins = 0; done_.load(std::memory_order_acquire) < parts; ++spins) {
        if (spins < kSpins) {
            relax();
        } else {
            std::this_thread::yield();
            poll();
        }
    }
    if (failure_ && stop_) stop_->rethrow_failure();
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

// Polls for signals while other threads finish their parts.
void Team::poll() {
    if (!stop_) return;
    try {
        stop_->poll();
    } catch (...) {
        keep_failure();
    }
}

void Team::keep_failure() {
    const std::lock_guard lock(guard_);
    if (!failure_) failure_ = std::current_exception();
}

// Takes one part that no thread has started, and runs it. Returns false if there is none.
bool Team::do_part() {
    std::uint32_t job = job_.load(std::memory_order_acquire);
    do {
        if ((job & kBegun) >= job >> 16) return false;
    } while (!job_.compare_exchange_weak(job, job + 1, std::memory_order_acq_rel));
    try {
        std::optional<Stop::Scope> scope;
        if (stop_) scope.emplace(*stop_);
        (*work_)(job& kBegun);
    } catch (...) {
        keep_failure();
    }
    done_.fetch_add(1, std::memory_order_release);
    return true;
}

void Team::serve() {
    for (int spins = 0;; ++spins) {
        if (do_part()) spins = 0;
        const std::uint32_t job = job_.load(std::memory_order_acquire);
        if (job == kEnd) return;
        if (spins < kSpins) {
            relax();
        } else if ((job & kBegun) == job >> 16) {
            job_.wait(job, std::memory_order_acquire);
            spins = 0;
        }
    }
}

}  // namespace toksmith

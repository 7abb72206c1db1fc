#include "base/stop.hpp"

#include <utility>

namespace toksmith {
namespace {

constinit thread_local Stop* current_stop = nullptr;

}  // namespace

Stop::Stop(Poll poll)
    : caller_(std::this_thread::get_id()),
      poll_(std::move(poll)),
      next_poll_(Clock::now() + kInterval) {}

Stop::Stop(Stop* outer)
    : outer_(outer), root_(outer ? outer->root_ : this), caller_(std::this_thread::get_id()) {}

bool Stop::requested() const noexcept {
    for (const Stop* stop = this; stop; stop = stop->outer_) {
        if (stop->requested_.load(std::memory_order_relaxed)) return true;
    }
    return false;
}

void Stop::check() {
    if (requested()) throw Stopped();
    poll();
}

void Stop::poll() {
    Stop& root = *root_;
    if (root.caller_ != std::this_thread::get_id() || !root.poll_) return;
    if (root.failure_ || Clock::now() < root.next_poll_) return;
    try {
        if (!root.poll_()) root.poll_ = nullptr;
    } catch (...) {
        root.failure_ = std::current_exception();
        root.request();
        throw;
    }
    root.next_poll_ = Clock::now() + kInterval;
}

void Stop::rethrow_failure() const {
    const Stop& root = *root_;
    if (root.caller_ == std::this_thread::get_id() && root.failure_)
        std::rethrow_exception(root.failure_);
}

Stop* Stop::current() noexcept { return current_stop; }

Stop::Scope::Scope(Stop& stop) noexcept : before_(std::exchange(current_stop, &stop)) {}
Stop::Scope::~Scope() { current_stop = before_; }

void interruption_point() {
    if (current_stop) current_stop->check();
}

}  // namespace toksmith

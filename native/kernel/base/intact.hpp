// Guards an object that an exception may leave incomplete: later calls then throw instead of giving
// results of the rest. Also refuses a change while another thread makes one.
#pragma once

#include <atomic>
#include <stdexcept>

namespace toksmith {

class Intact {
    enum State : char { kWhole, kChanging, kBroken };

 public:
    // `message`: of the error of later calls; a literal.
    explicit Intact(const char* message) : message_(message) {}
    Intact(Intact&& other) noexcept : message_(other.message_), state_(other.state_.load()) {}

    // A change of the object. If it ends before keep_usable() is called, the object cannot be used
    // any more. Throws std::logic_error if it cannot, or if another thread is changing it.
    class Change {
     public:
        explicit Change(Intact& intact) : intact_(intact) {
            State state = kWhole;
            if (intact.state_.compare_exchange_strong(state, kChanging)) return;
            throw std::logic_error(state == kBroken
                                       ? intact.message_
                                       : "the object is used by two threads at once: use one for "
                                         "each thread");
        }
        Change(const Change&) = delete;
        Change& operator=(const Change&) = delete;
        ~Change() { intact_.state_ = after_; }
        // From here on, the object stays usable whatever happens. Call it at the end of a change
        // that must be complete, and at the start of one that may be interrupted anywhere.
        void keep_usable() { after_ = kWhole; }

     private:
        Intact& intact_;
        State after_ = kBroken;
    };

 private:
    const char* message_;
    std::atomic<State> state_{kWhole};
};

}  // namespace toksmith

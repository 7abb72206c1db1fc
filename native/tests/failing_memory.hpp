// Makes a chosen allocation fail with std::bad_alloc, and the start of threads fail.
#pragma once

#include <cstddef>
#include <new>

#include <type_traits>
#include "base/thread_sanitizer.hpp"

namespace toksmith::test {

// Whether allocations of a HugePageArray fail too. ThreadSanitizer maps memory before its own
// start, when no instrumented function may run, so under it mmap is left alone.
#if defined(__linux__) && !defined(TOKSMITH_THREAD_SANITIZER)
#define TOKSMITH_FAILING_MMAP 1
inline constexpr bool kMapsFail = true;
#else
#define TOKSMITH_FAILING_MMAP 0
inline constexpr bool kMapsFail = false;
#endif

// While it exists, the n-th allocation (from 0) of any thread fails, whether by operator new, by
// malloc() or realloc() (where the linker can replace them), or by a HugePageArray. Only one may
// exist at a time.
class FailingAllocation {
 public:
    explicit FailingAllocation(std::size_t n);
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;
    ~FailingAllocation();

    bool has_failed() const;
};

// Whether MostThreads exists. ThreadSanitizer needs its own pthread_create().
#if defined(__linux__) && !defined(TOKSMITH_THREAD_SANITIZER)
#define TOKSMITH_FAILING_THREADS 1

// While it exists, only n more threads can be started. Only one may exist at a time.
class MostThreads {
 public:
    explicit MostThreads(std::size_t n);
    MostThreads(const MostThreads&) = delete;
    MostThreads& operator=(const MostThreads&) = delete;
    ~MostThreads();
};
#else
#define TOKSMITH_FAILING_THREADS 0
#endif

// Calls prepare(), and then work() with its first allocation failing; then again with its second,
// and so on until none fails; after the first `dense` ones, with every sixteenth part more. After
// each failure, calls check(), or check(threw): false if work() did without the memory. Returns
// about the number of allocations.
template <typename Prepare, typename Work, typename Check>
std::size_t fail_each_allocation(Prepare prepare, Work work, Check check,
                                 std::size_t dense = 1000) {
    for (std::size_t n = 0;; n += n < dense ? 1 : n / 16) {
        prepare();
        bool failed = false, threw = false;
        {
            const FailingAllocation failing(n);
            try {
                work();
            } catch (const std::bad_alloc&) {
                threw = true;
            }
            failed = failing.has_failed();
        }
        if (!failed) return n;
        if constexpr (std::is_invocable_v<Check, bool>) {
            check(threw);
        } else {
            check();
        }
    }
}

inline constexpr auto kNothing = [] {};

}  // namespace toksmith::test

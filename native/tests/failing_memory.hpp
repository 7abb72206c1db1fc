// Makes a chosen allocation fail with std::bad_alloc.
#pragma once

#include <cstddef>
#include <new>

namespace toksmith::test {

// Whether allocations of a HugePageArray fail too. ThreadSanitizer maps memory before its own
// start, when no instrumented function may run, so under it mmap is left alone.
#if defined(__linux__) && !defined(__SANITIZE_THREAD__)
#define TOKSMITH_FAILING_MMAP 1
inline constexpr bool kMapsFail = true;
#else
#define TOKSMITH_FAILING_MMAP 0
inline constexpr bool kMapsFail = false;
#endif

// While it exists, the n-th allocation (from 0) of any thread fails, whether by operator new or by
// a HugePageArray. Only one may exist at a time.
class FailingAllocation {
 public:
    explicit FailingAllocation(std::size_t n);
    FailingAllocation(const FailingAllocation&) = delete;
    FailingAllocation& operator=(const FailingAllocation&) = delete;
    ~FailingAllocation();

    bool has_failed() const;
};

// Calls work() with its first allocation failing, then with its second, and so on until none fails.
// Calls check() after each failure. Returns the number of allocations.
template <typename Work, typename Check>
std::size_t fail_each_allocation(Work work, Check check) {
    for (std::size_t n = 0;; ++n) {
        bool failed = false;
        {
            const FailingAllocation failing(n);
            try {
                work();
            } catch (const std::bad_alloc&) {
            }
            failed = failing.has_failed();
        }
        if (!failed) return n;
        check();
    }
}

}  // namespace toksmith::test

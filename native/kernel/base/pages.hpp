// madvise() for ranges of pages, and freed memory. Where the system does not support it, nothing
// happens.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__GLIBC__)
#include <malloc.h>
#endif
#if defined(__linux__)
#include <sys/mman.h>
#include <time.h>
#endif

namespace toksmith::pages {

inline constexpr std::size_t kHuge = std::size_t{1} << 21;  // bytes of a huge page

// The distance from p to the start of the next huge page, in bytes.
inline std::size_t before_huge(const void* p) {
    return -reinterpret_cast<std::uintptr_t>(p) & (kHuge - 1);
}

// Returns freed memory to the system. The allocator keeps much of it otherwise, so that a process
// takes the sum of what its steps need instead of the maximum.
inline void return_freed() {
#if defined(__GLIBC__)
    ::malloc_trim(0);
#endif
}

#if defined(__linux__)
namespace detail {

// A multiple of the page size of every system; it is 4, 16 or 64 KB on ARM.
#if defined(__x86_64__)
inline constexpr std::uintptr_t kPage = 4096;
#else
inline constexpr std::uintptr_t kPage = 65536;
#endif

// Calls madvise() for the pages that lie completely between `begin` and `end`.
inline void advise(const void* begin, const void* end, int advice) {
    const auto first = (reinterpret_cast<std::uintptr_t>(begin) + kPage - 1) & ~(kPage - 1);
    const auto last = reinterpret_cast<std::uintptr_t>(end) & ~(kPage - 1);
    if (first < last) ::madvise(reinterpret_cast<void*>(first), last - first, advice);
}

inline std::int64_t nanoseconds(clockid_t clock) {
    timespec time;
    ::clock_gettime(clock, &time);
    return time.tv_sec * std::int64_t{1'000'000'000} + time.tv_nsec;
}

// The bytes still to be populated on small pages before huge pages are requested again.
inline std::atomic<std::int64_t> small_left{0};

}  // namespace detail

// Requests huge pages for a range that holds at least one. Call it before the first access.
inline void request_huge(const void* begin, std::size_t bytes) {
    if (before_huge(begin) + kHuge > bytes) return;
    detail::advise(begin, static_cast<const char*>(begin) + bytes, MADV_HUGEPAGE);
}

// Populates pages shortly before they are written, since a page fault for each page costs more.
//
// It uses huge pages as long as the system provides them quickly. A virtual machine may have to get
// each huge page from its host, which takes several times as long as small pages it already has. So
// after a slow huge page, the next kSmall bytes are populated on small pages.
class PageWarmer {
 public:
    PageWarmer() = default;
    PageWarmer(void* begin, std::size_t bytes) : begin_(static_cast<char*>(begin)), bytes_(bytes) {
        request_huge(begin, bytes);
    }

    // Populates a range that is going to be written completely. Thread-safe.
    void populate(void* begin, void* end) {
        const auto bytes = static_cast<char*>(end) - static_cast<char*>(begin);
        if (bytes == 0) return;
        const bool huge = detail::small_left <= 0;
        if (!huge) detail::small_left -= bytes;
        if (std::atomic_ref(huge_).exchange(huge) != huge)
            detail::advise(begin_, begin_ + bytes_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        // CPU time of this thread, so that the time of other threads does not count.
        const std::int64_t before = detail::nanoseconds(CLOCK_THREAD_CPUTIME_ID);
        // A page fault blocks other threads for less time than madvise() does.
        *static_cast<volatile char*>(begin) = 0;
        detail::advise(begin, end, kPopulateWrite);
        const std::int64_t took = detail::nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
        if (huge && took > kLong * (bytes / std::int64_t{kHuge} + 1)) detail::small_left = kSmall;
    }

 private:
    // MADV_POPULATE_WRITE of Linux 5.14, which older headers lack.
    static constexpr int kPopulateWrite = 23;
    static constexpr std::int64_t kLong = 1'000'000;  // nanoseconds per huge page; more is slow
    static constexpr std::int64_t kSmall = std::int64_t{1} << 26;  // bytes

    char* begin_ = nullptr;
    std::size_t bytes_ = 0;
    bool huge_ = true;
};

// Releases pages that are not needed any more. They read as zeros afterwards.
inline void release(const void* begin, const void* end) {
    detail::advise(begin, end, MADV_DONTNEED);
}
#else
inline void request_huge(const void*, std::size_t) {}
class PageWarmer {
 public:
    PageWarmer() = default;
    PageWarmer(void*, std::size_t) {}
    void populate(void*, void*) {}
};
inline void release(const void*, const void*) {}
#endif

}  // namespace toksmith::pages

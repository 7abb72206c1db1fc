// Pages of memory, on systems that let a program ask for them. All of it wishes, no more: where the
// system does not know them, memory works as it is.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
#include <time.h>
#endif

namespace toksmith::pages {

inline constexpr std::size_t kHuge = std::size_t{1} << 21;  // bytes of a huge page

// How many bytes behind p the next huge page starts.
inline std::size_t before_huge(const void* p) {
    return -reinterpret_cast<std::uintptr_t>(p) & (kHuge - 1);
}

#if defined(__linux__)
namespace detail {

inline constexpr std::uintptr_t kPage = 4096;

// Advice on the whole pages between two places.
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

// Until then, only small pages are asked for.
inline std::atomic<std::int64_t> small_until{0};

}  // namespace detail

// Huge ones, if one lies inside: with small ones, the look-up of pages costs more than that of what
// is read all over, and they take seven times as long to get. To be called before the first touch.
inline void ask_for_huge(const void* begin, std::size_t bytes) {
    if (before_huge(begin) + kHuge > bytes) return;
    detail::advise(begin, static_cast<const char*>(begin) + bytes, MADV_HUGEPAGE);
}

// All that is going to be written, in one go: one by one, each costs a fault. Huge ones only as
// long as they come quickly: a virtual machine may have to ask its host for each, and small ones
// that are at hand take a seventh of that. It is this thread's own time that tells: that others
// had the processor meanwhile says nothing.
inline void ask_for(void* begin, void* end) {
    if (begin == end) return;
    constexpr int kPopulateWrite = 23;  // Linux 5.14; older headers do not name it
    constexpr std::int64_t kLong = 1'000'000, kWhile = 1'000'000'000;
    const auto bytes = static_cast<char*>(end) - static_cast<char*>(begin);
    const std::int64_t now = detail::nanoseconds(CLOCK_MONOTONIC);
    if (now < detail::small_until) detail::advise(begin, end, MADV_NOHUGEPAGE);
    const std::int64_t before = detail::nanoseconds(CLOCK_THREAD_CPUTIME_ID);
    *static_cast<volatile char*>(begin) = 0;  // a touch keeps other threads waiting less
    detail::advise(begin, end, kPopulateWrite);
    const std::int64_t took = detail::nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
    if (took > kLong * (bytes / std::int64_t{kHuge} + 1)) detail::small_until = now + kWhile;
}

// Gives back what is out of use; it reads as zeros, if it is read again.
inline void give_back(const void* begin, const void* end) {
    detail::advise(begin, end, MADV_DONTNEED);
}
#else
inline void ask_for_huge(const void*, std::size_t) {}
inline void ask_for(void*, void*) {}
inline void give_back(const void*, const void*) {}
#endif

}  // namespace toksmith::pages

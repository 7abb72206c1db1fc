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

// So many bytes are to come on small pages before a huge one is asked for again.
inline std::atomic<std::int64_t> small_left{0};

}  // namespace detail

// Huge ones, if one lies inside: with small ones, the look-up of pages costs more than that of what
// is read all over, and they take seven times as long to get. To be called before the first touch.
inline void request_huge(const void* begin, std::size_t bytes) {
    if (before_huge(begin) + kHuge > bytes) return;
    detail::advise(begin, static_cast<const char*>(begin) + bytes, MADV_HUGEPAGE);
}

// Memory that nobody has touched, and of which much is going to be written: its pages are asked for
// shortly before, since one by one each costs a fault.
//
// They are huge as long as these come quickly. A virtual machine may have to ask its host for each;
// small ones that are at hand take a seventh of that. So behind a slow one, some memory comes on
// small ones.
class PageWarmer {
 public:
    PageWarmer() = default;
    PageWarmer(void* begin, std::size_t bytes) : begin_(static_cast<char*>(begin)), bytes_(bytes) {
        request_huge(begin, bytes);
    }

    // For a part of it, all of which is going to be written. Several threads may call it.
    void populate(void* begin, void* end) {
        const auto bytes = static_cast<char*>(end) - static_cast<char*>(begin);
        if (bytes == 0) return;
        const bool huge = detail::small_left <= 0;
        if (!huge) detail::small_left -= bytes;
        if (std::atomic_ref(huge_).exchange(huge) != huge)
            detail::advise(begin_, begin_ + bytes_, huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
        // That others had the processor meanwhile says nothing: it is this thread's time that does.
        const std::int64_t before = detail::nanoseconds(CLOCK_THREAD_CPUTIME_ID);
        *static_cast<volatile char*>(begin) = 0;  // others wait less for a touch than for advice
        detail::advise(begin, end, kPopulateWrite);
        const std::int64_t took = detail::nanoseconds(CLOCK_THREAD_CPUTIME_ID) - before;
        if (huge && took > kLong * (bytes / std::int64_t{kHuge} + 1)) detail::small_left = kSmall;
    }

 private:
    static constexpr int kPopulateWrite = 23;         // Linux 5.14; older headers do not name it
    static constexpr std::int64_t kLong = 1'000'000;  // nanoseconds
    static constexpr std::int64_t kSmall = std::int64_t{1} << 26;  // bytes

    char* begin_ = nullptr;
    std::size_t bytes_ = 0;
    bool huge_ = true;
};

// Gives back what is out of use; it reads as zeros, if it is read again.
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

// Pages of memory, on systems that let a program ask for them. All of it wishes, no more: where the
// system does not know them, memory works as it is.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>

#if defined(__linux__)
#include <sys/mman.h>
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

}  // namespace detail

// Huge ones, if one lies inside: for what is read all over, because with small ones the look-up of
// pages costs more than the memory's own. To be called before the first touch.
inline void ask_for_huge(const void* begin, std::size_t bytes) {
    if (before_huge(begin) + kHuge > bytes) return;
    detail::advise(begin, static_cast<const char*>(begin) + bytes, MADV_HUGEPAGE);
}

// All that is going to be written, in one go: one by one, each costs a fault.
inline void ask_for(const void* begin, const void* end) {
    constexpr int kPopulateWrite = 23;  // Linux 5.14; older headers do not name it
    detail::advise(begin, end, kPopulateWrite);
}

// The same on huge pages, if the system has them: those take a quarter of the time. False where
// they took long: a virtual machine may have to ask its host for each, which takes as long as
// twenty.
inline bool ask_for_huge_now(const void* begin, const void* end) {
    using Clock = std::chrono::steady_clock;
    detail::advise(begin, end, MADV_HUGEPAGE);
    const Clock::time_point before = Clock::now();
    ask_for(begin, end);
    return Clock::now() - before < std::chrono::milliseconds(1);
}

// Gives back what is out of use; it reads as zeros, if it is read again.
inline void give_back(const void* begin, const void* end) {
    detail::advise(begin, end, MADV_DONTNEED);
}
#else
inline void ask_for_huge(const void*, std::size_t) {}
inline void ask_for(const void*, const void*) {}
inline bool ask_for_huge_now(const void*, const void*) { return true; }
inline void give_back(const void*, const void*) {}
#endif

}  // namespace toksmith::pages

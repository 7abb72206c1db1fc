// Zeroed memory for a table that is read at random: on huge pages where the system has them,
// because with small pages address translation costs more than the read.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#include "base/pages.hpp"

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace toksmith {

namespace detail {

struct Unmap {
    void* mapped;
    std::size_t bytes;
    void operator()(void*) const {
#if defined(__linux__)
        ::munmap(mapped, bytes);
#else
        std::free(mapped);
#endif
    }
};

}  // namespace detail

template <typename T>
class HugePageArray {
 public:
    // `small_prefix`: the number of elements that lie on small pages, for a table of which no more
    // may be used: a huge page takes long to get.
    explicit HugePageArray(std::size_t size, std::size_t small_prefix = 0)
        : size_(size), memory_(map(size * sizeof(T), small_prefix * sizeof(T))) {}

    T* data() const { return static_cast<T*>(memory_.get()); }
    // Populates elements that nothing has touched. One huge page at a time: other threads that map
    // memory wait meanwhile.
    void populate(std::size_t first, std::size_t last) const {
        auto* const end = reinterpret_cast<char*>(data() + last);
        char* next = reinterpret_cast<char*>(data() + first);
        pages::PageWarmer warmer(next, end - next);
        for (char* p = next; p < end; p = next) {
            next = std::min(p + pages::before_huge(p + 1) + 1, end);
            warmer.populate(p, next);
        }
    }
    void clear() { std::memset(memory_.get(), 0, size_ * sizeof(T)); }

 private:
    using Memory = std::unique_ptr<void, detail::Unmap>;

    static Memory map(std::size_t bytes, std::size_t small_prefix) {
#if defined(__linux__)
        using pages::kHuge;
        // After the small pages, a huge page starts. The rest of the last huge page is unused; if
        // that were half of it or more, small pages are used there instead.
        const std::size_t huge = (bytes - small_prefix + kHuge / 2 - 1) / kHuge * kHuge;
        const std::size_t mapped_bytes =
            std::max(bytes, small_prefix + huge) + (huge > 0 ? kHuge : 0);
        void* mapped = ::mmap(nullptr, mapped_bytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (mapped == MAP_FAILED) throw std::bad_alloc();
        char* memory = static_cast<char*>(mapped);
        if (huge > 0) {
            memory += pages::before_huge(memory + small_prefix);
            pages::request_huge(memory + small_prefix, huge);
        }
        return Memory(memory, detail::Unmap{mapped, mapped_bytes});
#else
        void* const whole = std::calloc(1, bytes + alignof(T));
        if (!whole) throw std::bad_alloc();
        void* memory = whole;
        std::size_t room = bytes + alignof(T);
        std::align(alignof(T), bytes, memory, room);
        return Memory(memory, detail::Unmap{whole, bytes});
#endif
    }

    std::size_t size_;
    Memory memory_;
};

}  // namespace toksmith

// A zeroed array for tables with random access. It uses huge pages where the system has them: with
// small pages, a TLB miss costs more than the read.
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
    // `small_prefix`: the number of elements at the start that lie on small pages. For a table of
    // which no more may ever be used, since a huge page takes long to allocate.
    explicit HugePageArray(std::size_t size, std::size_t small_prefix = 0)
        : size_(size), memory_(map(size * sizeof(T), small_prefix * sizeof(T))) {}

    T* data() const { return static_cast<T*>(memory_.get()); }
    // Populates untouched elements, one huge page at a time: the system holds the lock on the
    // address space meanwhile, and other threads that map memory wait for it.
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
        // Huge pages start after the small ones. If less than half of the last huge page would be
        // used, that rest lies on small pages instead.
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
        static_cast<void>(small_prefix);  // the allocator chooses the pages
        std::size_t room = bytes + alignof(T);
        void *const whole = std::calloc(1, room), *memory = whole;
        if (!whole) throw std::bad_alloc();
        std::align(alignof(T), bytes, memory, room);
        return Memory(memory, detail::Unmap{whole, bytes});
#endif
    }

    std::size_t size_;
    Memory memory_;
};

}  // namespace toksmith

// For vectors that become large: on huge pages, each of which the system clears at once, where it
// would stop the program for every 4 KiB that are touched first.
#pragma once

#include <cstddef>
#include <cstdlib>
#include <new>

#include "base/pages.hpp"

namespace toksmith {

template <typename T>
struct HugeAllocator {
    using value_type = T;

    HugeAllocator() = default;
    template <typename Other>
    HugeAllocator(const HugeAllocator<Other>&) {}

    T* allocate(std::size_t size) {
        void* const memory = std::malloc(size * sizeof(T));
        if (!memory) throw std::bad_alloc();
        pages::request_huge(memory, size * sizeof(T));
        return static_cast<T*>(memory);
    }
    void deallocate(T* memory, std::size_t) { std::free(memory); }

    bool operator==(const HugeAllocator&) const { return true; }
};

}  // namespace toksmith

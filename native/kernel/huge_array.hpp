// Zeroed memory for a table that is read all over: on huge pages where the system has them, because
// with small ones the look-up of pages costs more than the table's own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>

#if defined(__linux__)
#include <sys/mman.h>
#endif

namespace toksmith {

// Asks for huge pages where whole ones lie inside the memory. To be called before the first touch;
// a wish, no more.
inline void ask_for_huge_pages([[maybe_unused]] void* memory, [[maybe_unused]] std::size_t bytes) {
#if defined(__linux__)
    constexpr std::uintptr_t kPage = 4096, kHuge = std::uintptr_t{1} << 21;
    if (bytes < 2 * kHuge) return;
    const auto start = (reinterpret_cast<std::uintptr_t>(memory) + kPage - 1) & ~(kPage - 1);
    const auto end = (reinterpret_cast<std::uintptr_t>(memory) + bytes) & ~(kPage - 1);
    ::madvise(reinterpret_cast<void*>(start), end - start, MADV_HUGEPAGE);
#endif
}

namespace detail {

struct Unmap {
    std::size_t bytes;
    void operator()(void* memory) const {
#if defined(__linux__)
        ::munmap(memory, bytes);
#else
        std::free(memory);
#endif
    }
};

}  // namespace detail

template <typename T>
class HugeArray {
 public:
    explicit HugeArray(std::size_t size) : size_(size), memory_(map(size * sizeof(T))) {}

    T* data() const { return static_cast<T*>(memory_.get()); }
    void clear() { std::memset(memory_.get(), 0, size_ * sizeof(T)); }

 private:
    using Memory = std::unique_ptr<void, detail::Unmap>;

    static Memory map(std::size_t bytes) {
#if defined(__linux__)
        void* memory =
            ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
        if (memory == MAP_FAILED) throw std::bad_alloc();
        ask_for_huge_pages(memory, bytes);
#else
        void* memory = std::calloc(1, bytes);
        if (!memory) throw std::bad_alloc();
#endif
        return Memory(memory, detail::Unmap{bytes});
    }

    std::size_t size_;
    Memory memory_;
};

}  // namespace toksmith

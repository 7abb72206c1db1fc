// A pair of neighbours that may merge.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <new>
#include <vector>

#include "base/pages.hpp"
#include "models/bpe/model.hpp"
#include "training/bpe/position_arena.hpp"

namespace toksmith::bpe {

// For vectors that become large: huge pages, each of which is cleared at once when it is first
// touched, instead of a page fault for every 4 KiB.
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

// All positions of a pair were recorded by one merge, the one that made the younger of its ids. So
// its count only falls, and its positions ascend.
struct Pair {
    Id left, right;
    std::uint64_t count;
    Position* places;    // some may be stale
    std::uint32_t size;  // number of positions
    Position spelled;    // a position of its text, merged or not
};

using Pairs = std::vector<Pair, HugeAllocator<Pair>>;  // by number

}  // namespace toksmith::bpe

// A pair of adjacent symbols that may merge.
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

// Allocates large vectors on huge pages: each is cleared at its first access, instead of one page
// fault for every 4 KiB.
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

// All positions of a pair are recorded by the merge that makes the newer of its two symbols. Later,
// its count can only fall. Positions are ascending.
struct Pair {
    Id left, right;
    std::uint64_t count;
    Position* places;    // some may be outdated
    std::uint32_t size;  // number of positions
};

using Pairs = std::vector<Pair, HugeAllocator<Pair>>;  // by number

}  // namespace toksmith::bpe

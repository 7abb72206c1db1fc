// A pair of neighbours that may merge.
#pragma once

#include <cstdint>
#include <vector>

#include "models/bpe/model.hpp"
#include "training/bpe/huge_allocator.hpp"
#include "training/bpe/position_arena.hpp"

namespace toksmith::bpe {

// All places of a pair were noted by one merge, the one that made the younger of its ids, so its
// count only ever falls, and its places ascend.
struct Pair {
    Id left, right;
    std::uint64_t count;
    Position* places;    // some may be out of date
    std::uint32_t size;  // how many
    Position spelled;    // a place where its text stands, merged or not
};

using Pairs = std::vector<Pair, HugeAllocator<Pair>>;  // by number

}  // namespace toksmith::bpe

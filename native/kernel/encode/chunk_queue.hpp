// The chunks of a text between the splitter and the cache: found, prefetched, consumed. A batch is
// consumed once the next one is prefetched, so the memory of many look-ups is under way at once.
// All batches have one size, as long as there is text: the end of a loop of constant length is
// predicted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cache/chunk_cache.hpp"
#include "simd/marked.hpp"

namespace toksmith {

struct ChunkQueue {
    using Byte = std::uint8_t;

    static constexpr std::size_t kBatch = 64;
    // When more are found, consumed chunks are dropped; the last window may exceed it.
    static constexpr std::size_t kRoom = 512, kMost = kRoom + kBatch + marked::kMost;

    // Chunks that are prefetched.
    struct Batch {
        std::size_t size = 0;
        ChunkKey keys[kBatch];
        const BucketTable::Bucket* buckets[kBatch];  // null: of a run
    };

    ChunkQueue(const Byte* text_begin, const Byte* text_end) : end_of_text(text_end) {
        bounds[0] = text_begin;
    }

    const Byte* end_of_text;
    std::size_t found = 0, prefetched = 0, consumed = 0;  // never more than the one before
    const Byte* bounds[1 + kMost];                        // chunk i lies between bounds i and i + 1
    Batch batches[2];  // one is consumed while the other is prefetched
    std::size_t turn = 0;

    Batch& batch() { return batches[turn]; }  // prefetched last
    Batch& other_batch() { return batches[turn ^ 1]; }
    const Byte* end() const { return bounds[found]; }
    const Byte** next_ends() { return bounds + 1 + found; }
    // Whether a batch can be prefetched.
    bool has_batch() const { return found - prefetched >= kBatch; }

    // Drops consumed chunks, if all are or there is no room for a batch, and returns how many.
    std::size_t compact() {
        if (found < kRoom && consumed < found) return 0;
        std::memmove(bounds, bounds + consumed, (found + 1 - consumed) * sizeof *bounds);
        found -= consumed;
        prefetched -= consumed;
        return std::exchange(consumed, 0);
    }
};

}  // namespace toksmith

// The queue of chunks between the splitter and the cache: chunks are found, then prefetched, then
// consumed. A batch is consumed once the next one is prefetched, so the memory accesses of many
// look-ups overlap. All batches but the last have the same size, so the end of the loop over a
// batch is well predicted.
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
    // Consumed chunks are dropped when kRoom are queued. The last window may exceed kRoom.
    static constexpr std::size_t kRoom = 512, kMost = kRoom + kBatch + marked::kMost;

    // A batch of prefetched chunks.
    struct Batch {
        std::size_t size = 0;
        ChunkKey keys[kBatch];
        const BucketTable::Bucket* buckets[kBatch];  // null: the chunk is a run
    };

    ChunkQueue(const Byte* text_begin, const Byte* text_end) : end_of_text(text_end) {
        bounds[0] = text_begin;
    }

    const Byte* end_of_text;
    std::size_t found = 0, prefetched = 0, consumed = 0;  // consumed <= prefetched <= found
    const Byte* bounds[1 + kMost];  // chunk i extends from bounds[i] to bounds[i + 1]
    Batch batches[2];               // one is consumed while the other is prefetched
    std::size_t turn = 0;

    Batch& batch() { return batches[turn]; }  // the one that was prefetched last
    Batch& other_batch() { return batches[turn ^ 1]; }
    const Byte* end() const { return bounds[found]; }
    const Byte** next_ends() { return bounds + 1 + found; }
    // Whether enough chunks are found for a batch.
    bool has_batch() const { return found - prefetched >= kBatch; }

    // Drops the consumed chunks if all are consumed or the queue is full. Returns their number.
    std::size_t compact() {
        if (found < kRoom && consumed < found) return 0;
        std::memmove(bounds, bounds + consumed, (found + 1 - consumed) * sizeof *bounds);
        found -= consumed;
        prefetched -= consumed;
        return std::exchange(consumed, 0);
    }
};

}  // namespace toksmith

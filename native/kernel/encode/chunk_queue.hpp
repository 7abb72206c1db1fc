// The chunks of a text on their way: found, prefetched for, consumed. A batch of them is consumed
// when the next one has been prefetched for; so the memory of many look-ups is under way at once,
// and has time. All batches are of one size, as long as there is text: processors guess right when
// a loop of one length ends, and seldom when it is of any.
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
    // Where there are more, those that were consumed make room; the last window may come on top.
    static constexpr std::size_t kRoom = 512, kMost = kRoom + kBatch + marked::kMost;

    // Chunks that were prefetched for.
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
    const Byte* bounds[1 + kMost];  // a chunk stands between its own and the next
    Batch batches[2];               // one that is consumed, while the other is prefetched for
    std::size_t turn = 0;

    Batch& batch() { return batches[turn]; }  // what was prefetched for last
    Batch& other_batch() { return batches[turn ^ 1]; }
    const Byte* end() const { return bounds[found]; }
    const Byte** next_ends() { return bounds + 1 + found; }
    // Whether enough are found to prefetch_batch for.
    bool has_batch() const { return found - prefetched >= kBatch; }

    // Forgets those that were consumed, if that is all or there is no room for a batch, and returns
    // how many.
    std::size_t compact() {
        if (found < kRoom && consumed < found) return 0;
        std::memmove(bounds, bounds + consumed, (found + 1 - consumed) * sizeof *bounds);
        found -= consumed;
        prefetched -= consumed;
        return std::exchange(consumed, 0);
    }
};

}  // namespace toksmith

// The chunks of a text on their way: found, asked for, taken. A batch of them is taken when the
// next one has been asked for; so the memory of many look-ups is under way at once, and has time.
// All batches are of one size, as long as there is text: processors guess right when a loop of one
// length ends, and seldom when it is of any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "cache/chunk_cache.hpp"
#include "isa/marked.hpp"

namespace toksmith {

struct Ahead {
    using Byte = std::uint8_t;

    static constexpr std::size_t kBatch = 64;
    // Where there are more, those that were taken make room; the last window may come on top.
    static constexpr std::size_t kRoom = 512, kMost = kRoom + kBatch + marked::kMost;

    // Chunks that were asked for.
    struct Batch {
        std::size_t size = 0;
        ChunkKey keys[kBatch];
        const ChunkLines::Line* lines[kBatch];  // null: of a run
    };

    Ahead(const Byte* text_begin, const Byte* text_end) : end_of_text(text_end) {
        bounds[0] = text_begin;
    }

    const Byte* end_of_text;
    std::size_t found = 0, asked = 0, taken = 0;  // never more than the one before
    const Byte* bounds[1 + kMost];                // a chunk stands between its own and the next
    Batch batches[2];                             // one that is taken, while the other is asked for
    std::size_t turn = 0;

    Batch& batch() { return batches[turn]; }  // what was asked for last
    Batch& other_batch() { return batches[turn ^ 1]; }
    const Byte* end() const { return bounds[found]; }
    const Byte** next_ends() { return bounds + 1 + found; }
    // Whether enough are found to ask for.
    bool has_batch() const { return found - asked >= kBatch; }

    // Forgets those that were taken, if that is all or there is no room for a batch, and returns
    // how many.
    std::size_t close_up() {
        if (found < kRoom && taken < found) return 0;
        std::memmove(bounds, bounds + taken, (found + 1 - taken) * sizeof *bounds);
        found -= taken;
        asked -= taken;
        return std::exchange(taken, 0);
    }
};

}  // namespace toksmith

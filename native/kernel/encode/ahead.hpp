// The chunks of a text on their way: found, asked for, taken. A batch of them is taken when the
// next one has been asked for; so the memory of many look-ups is under way at once, and has time.
// All batches are of one size, as long as there is text: processors guess right when a loop of one
// length ends, and seldom when it is of any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/chunk_cache.hpp"
#include "isa/marked.hpp"

namespace toksmith {

struct Ahead {
    using Byte = std::uint8_t;

    static constexpr std::size_t kBatch = 64;
    // A batch begins where there are fewer; the last window of it may come on top.
    static constexpr std::size_t kRoom = 256, kMost = kRoom + kBatch + marked::kMost;

    Ahead(const Byte* text_begin, const Byte* text_end) : end_of_text(text_end) {
        bounds[0] = text_begin;
    }

    const Byte* end_of_text;
    std::size_t found = 0, asked = 0, taken = 0;  // never more than the one before
    const Byte* bounds[1 + kMost];                // a chunk stands between its own and the next
    // Of those that were asked for:
    ChunkKey keys[kMost];
    const ChunkLines::Line* lines[kMost];  // null: of a run
    std::size_t long_count = 0;
    std::uint16_t longs[kMost];  // those whose text does not stand in a line

    const Byte* start(std::size_t i) const { return bounds[i]; }
    std::size_t size(std::size_t i) const {
        return static_cast<std::size_t>(bounds[i + 1] - bounds[i]);
    }
    const Byte* end() const { return bounds[found]; }
    const Byte** next_ends() { return bounds + 1 + found; }
    // Whether enough are found to ask for.
    bool has_batch() const { return found - asked >= kBatch; }

    // Forgets those that were taken, if that is all or there is no room for a batch.
    void close_up() {
        if (found < kRoom && taken < found) return;
        move_up(bounds, found + 1);
        move_up(keys, asked);
        move_up(lines, asked);
        found -= taken;
        asked -= taken;
        taken = long_count = 0;
    }

 private:
    template <typename T>
    void move_up(T* some, std::size_t last) const {
        std::memmove(some, some + taken, (last - taken) * sizeof(T));
    }
};

}  // namespace toksmith

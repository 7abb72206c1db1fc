// Chunks that are gathered, to be counted at once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "counting/chunk_table.hpp"

namespace toksmith {

struct CountingBatch {
    std::vector<std::uint8_t> text;  // all chunks end to end
    std::vector<std::size_t> ends;
    std::vector<std::uint64_t> counts;

    // Counts them and is empty again. `first`: the place of the first one.
    void count(ChunkTable& table, std::uint64_t first) {
        pointers_.clear();
        for (const std::size_t end : ends) pointers_.push_back(text.data() + end);
        table.add_all(text.data(), pointers_.data(), ends.size(), first, text.data() + text.size(),
                      counts.data());
        text.clear();
        ends.clear();
        counts.clear();
    }

 private:
    std::vector<const std::uint8_t*> pointers_;
};

}  // namespace toksmith

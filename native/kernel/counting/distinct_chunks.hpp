// The distinct chunks of several tables, in the order in which they first occurred.
#pragma once

#include <cstddef>
#include <string_view>
#include <vector>

#include "counting/chunk_table.hpp"

namespace toksmith {

class DistinctChunks {
 public:
    using Entry = ChunkTable::Entry;

    DistinctChunks() = default;
    // Merges equal chunks of different tables. The result does not depend on the number of threads.
    DistinctChunks(std::vector<ChunkTable> tables, std::size_t threads);

    // Removes a chunk, if it is present.
    void drop(std::string_view chunk);

    const std::vector<Entry>& entries() const { return entries_; }
    std::size_t total_bytes() const { return total_bytes_; }

 private:
    std::vector<ChunkTable> tables_;  // they own the bytes of the entries
    std::vector<Entry> entries_;
    std::size_t total_bytes_ = 0;
};

}  // namespace toksmith

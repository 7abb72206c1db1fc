// Counting the chunks of a corpus on several threads. The result depends on the text alone.
#pragma once

#include <stdexcept>
#include <vector>

#include "encode/loops.hpp"
#include "train/chunk_table.hpp"

namespace toksmith {

class ChunkCounter {
 public:
    ChunkCounter(Family family, isa::Level level) : family_(family), loops_(loops(level)) {
        if (traits(family).by_model) throw std::invalid_argument("chunks are counted by patterns");
    }

    // Counts the chunks of each document, which follow all that was added before.
    void add(const std::vector<Text>& documents, std::size_t threads);
    // Counts the documents as chunks themselves, each `counts[i]` times.
    void add_chunks(const std::vector<Text>& chunks, const std::vector<std::uint64_t>& counts);

    // All chunks in the order in which they were first seen. Ends the counting.
    ChunkTable finish();

 private:
    Family family_;
    const Loops& loops_;
    std::vector<ChunkTable> tables_;  // one a thread
    std::uint64_t position_ = 0;      // how many bytes were added so far
};

}  // namespace toksmith

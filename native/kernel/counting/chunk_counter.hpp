// Counts the chunks of a corpus on several threads. The result does not depend on their number.
#pragma once

#include <memory>
#include <vector>

#include "base/intact.hpp"
#include "counting/chunk_sample.hpp"
#include "counting/chunk_table.hpp"
#include "counting/distinct_chunks.hpp"
#include "counting/spilled_counts.hpp"
#include "split/splitter.hpp"
#include "text/text.hpp"

namespace toksmith {

class ChunkCounter {
 public:
    // Throws std::invalid_argument for Family::kModel.
    ChunkCounter(Splitter splitter, isa::Level level);

    ChunkCounter(ChunkCounter&&) = default;
    // Spills the tables to a file from now on, whenever they reach about `memory` bytes.
    // `descriptor`: of the file. `space`: its maximum size in bytes; beyond it, SpillFull is
    // thrown.
    void limit(std::size_t memory, int descriptor, std::uint64_t space = ~std::uint64_t{0});
    // Counts each of the following chunks `weight` times. Needs limit() first.
    void weigh(std::uint64_t weight);

    // Counts the chunks of each document. The documents follow those of earlier calls. After an
    // error or an interruption, counts lie between those before and those of all documents: blocks
    // of documents may be missing, or counted in part.
    void add(const std::vector<Text>& documents, std::size_t threads);
    // Counts each text as one chunk, `counts[i]` times. Errors and interruptions: see add().
    void add_chunks(const std::vector<Text>& chunks, const std::vector<std::uint64_t>& counts);

    // Returns the number of chunks of each document, and counts none of them.
    std::vector<std::uint64_t> chunks_of(const std::vector<Text>& documents) const;

    // Ends the counting. Returns all chunks in the order in which they first occurred. Only if
    // nothing was spilled.
    DistinctChunks finish();

    // If anything was spilled or weighed, spills the rest and returns the spilled counts; otherwise
    // null.
    SpilledCounts* spilled();
    // The number of bytes written to the file, and its size.
    std::uint64_t spilled_bytes() const { return spilled_ ? spilled_->bytes() : 0; }
    std::uint64_t file_size() const { return spilled_ ? spilled_->file_size() : 0; }
    // Before finish() and spilled(): an estimate of the number of distinct chunks so far, and of
    // their bytes, by count, where counts are divided by `unit`.
    SpilledCounts::Tallies estimate(std::uint64_t unit) const;

 private:
    bool is_full(const ChunkTable& table, std::size_t threads) const {
        return spilled_ && table.memory_when_grown() > memory_ / threads;
    }
    // Calls add(ends, count) with the next `count` ends of chunks of a text, until its end.
    template <typename Add>
    void find_chunks(Text text, const Add& add) const;
    // Counts the chunks of a text. `first`: the position of its first byte.
    void count_chunks(Text text, ChunkTable& table, std::uint64_t first) const;
    void spill();

    Splitter splitter_;
    FindChunks find_chunks_ = nullptr;  // or, if splitter_ has tables:
    FindByTables find_by_tables_ = nullptr;
    std::vector<ChunkTable> tables_;  // one for each thread
    Intact intact_{"counts cannot be used after an error or an interruption of finish()"};
    std::uint64_t position_ = 0;  // bytes added so far
    std::size_t memory_ = 0;      // limit for all tables, in bytes
    std::uint64_t weight_ = 1;    // of the chunks that are now in the tables
    std::unique_ptr<SpilledCounts> spilled_;
    ChunkSample sample_;  // of the chunks that were spilled
};

}  // namespace toksmith

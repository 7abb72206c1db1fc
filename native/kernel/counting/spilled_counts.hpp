// Counts that do not fit into memory. Runs sorted by chunk are merged into runs sorted by first
// position, and these are read in that order. The result equals that of one large table.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "counting/runs.hpp"

namespace toksmith {

class SpilledCounts {
 public:
    // The chunks with the same count; the last Tally of Tallies: with that count or a larger one.
    struct Tally {
        std::uint64_t chunks = 0;
        std::uint64_t bytes = 0;
    };
    static constexpr std::size_t kTallies = 1024;
    using Tallies = std::array<Tally, kTallies>;

    explicit SpilledCounts(int descriptor) : file_(descriptor) {}

    // Writes the records of each table as a run; the records of one table are distinct. Sorts on
    // `threads` threads. All functions here that take long have interruption points.
    void spill(std::vector<std::vector<Record>> tables, std::size_t threads);
    bool empty() const { return runs_.empty() && by_first_.empty(); }
    std::uint64_t bytes() const { return file_.size(); }

    // Merges equal chunks, using about `memory` bytes. Call it once. Returns the number of chunks
    // by count, where counts are divided by `unit`. Chunks with a count below `min_count` are
    // included there, but dropped afterwards.
    Tallies merge(std::uint64_t min_count, std::uint64_t unit, std::size_t memory);
    std::uint64_t chunks() const { return chunks_; }
    std::uint64_t chunk_bytes() const { return chunk_bytes_; }

    // Calls visit(record) for the merged chunks in the order of their first positions. May be
    // called again.
    void visit(const std::function<void(const Record&)>& visit);

 private:
    SortedRun write(const std::vector<Record>& records);
    void flush(std::vector<Record>& block, std::vector<std::uint8_t>& bytes);
    void visit_runs(const std::vector<SortedRun>& runs,
                    bool (*before)(const Record&, const Record&),
                    const std::function<void(const Record&)>& visit);

    SpillFile file_;
    std::vector<SortedRun> runs_;      // sorted by chunk
    std::vector<SortedRun> by_first_;  // of merged chunks, sorted by first position
    std::uint64_t chunks_ = 0, chunk_bytes_ = 0;
    std::size_t memory_ = 0;
};

}  // namespace toksmith

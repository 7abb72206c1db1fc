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

    // `limit`: the maximum size of the file in bytes.
    explicit SpilledCounts(int descriptor, std::uint64_t limit = ~std::uint64_t{0})
        : file_(descriptor, limit) {}

    // Writes the records of each table as a run; the records of one table are distinct. Sorts on
    // `threads` threads. All functions here that take long have interruption points. If the file
    // would exceed its limit, the runs are merged first, using about `memory` bytes; throws
    // SpillFull if that is not enough.
    void spill(std::vector<std::vector<Record>> tables, std::size_t threads, std::size_t memory);
    // Merges runs of about the same size, if there are many; takes about `memory` bytes. This
    // bounds their number, and what repeats in them is stored once.
    void compact(std::size_t memory);
    // Whether nothing was spilled. False after an error that lost all runs: the rest of the counts
    // must not pass for all of them.
    bool empty() const { return runs_.empty() && by_first_.empty() && !broken_; }
    // The number of bytes written, and the size of the file.
    std::uint64_t bytes() const { return file_.written(); }
    std::uint64_t file_size() const { return file_.size(); }

    // Merges equal chunks, using about `memory` bytes. Call it once: it consumes the runs. Returns
    // the number of chunks by count, where counts are divided by `unit`. Chunks with a count below
    // `min_count` are included there, but dropped afterwards.
    Tallies merge(std::uint64_t min_count, std::uint64_t unit, std::size_t memory);
    std::uint64_t chunks() const { return chunks_; }
    std::uint64_t chunk_bytes() const { return chunk_bytes_; }
    // The sum of their counts, and of the bytes of all occurrences.
    std::uint64_t occurrences() const { return occurrences_; }
    std::uint64_t text_bytes() const { return text_bytes_; }

    // Calls visit(record) for the merged chunks in the order of their first positions. May be
    // called again.
    void visit(const std::function<void(const Record&)>& visit);
    // The same records, one by one. They need this object.
    std::unique_ptr<MergedRuns> in_order();

 private:
    struct Run {
        SortedRun run;
        unsigned level = 0;  // how often its records were merged
    };
    SortedRun write(const std::vector<Record>& records);
    void flush(std::vector<Record>& block, std::vector<std::uint8_t>& bytes);
    // Replaces the runs from number `first` on by one.
    void merge_from(std::size_t first, std::size_t memory);
    // Removes the runs from number `first` on, and calls visit(record) for each distinct chunk,
    // with its sum. Blocks are freed as they are read. Sets broken_, which the caller resets once
    // the result is written.
    void consume(std::size_t first, std::size_t memory,
                 const std::function<void(const Record&)>& visit);

    BlockFile file_;
    std::vector<Run> runs_;            // sorted by chunk; their levels do not increase
    std::vector<SortedRun> by_first_;  // of merged chunks, sorted by first position
    std::uint64_t chunks_ = 0, chunk_bytes_ = 0, occurrences_ = 0, text_bytes_ = 0;
    std::size_t memory_ = 0;
    bool merged_ = false;
    bool broken_ = false;  // an error or an interruption lost runs
};

}  // namespace toksmith

// Counts larger than memory: runs sorted by chunk are merged into runs sorted by first place, which
// are read in that order. What comes out is what one large table would have held.
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
    // How much there is of the chunks that stand in the text so often; the last of all that stand
    // there so often or more often.
    struct Tally {
        std::uint64_t chunks = 0;
        std::uint64_t bytes = 0;
    };
    static constexpr std::size_t kTallies = 1024;
    using Tallies = std::array<Tally, kTallies>;

    explicit SpilledCounts(int descriptor) : file_(descriptor) {}

    // Writes the records of tables, each distinct in its own, as runs; `threads` sort. All that
    // takes long here has interruption points.
    void spill(std::vector<std::vector<Record>> tables, std::size_t threads);
    bool empty() const { return runs_.empty() && by_first_.empty(); }
    std::uint64_t bytes() const { return file_.size(); }

    // Makes one of equal chunks, once, in about so much memory, and returns how many there are by
    // count, which is rounded to units. Of those that are rarer than `min_count`, nothing is kept
    // but that.
    Tallies merge(std::uint64_t min_count, std::uint64_t unit, std::size_t memory);
    std::uint64_t chunks() const { return chunks_; }
    std::uint64_t chunk_bytes() const { return chunk_bytes_; }

    // What was merged, in the order of first places; any number of times.
    void visit(const std::function<void(const Record&)>& visit);

 private:
    SortedRun write(const std::vector<Record>& records);
    void flush(std::vector<Record>& block, std::vector<std::uint8_t>& bytes);
    void visit_runs(const std::vector<SortedRun>& runs,
                    bool (*before)(const Record&, const Record&),
                    const std::function<void(const Record&)>& visit);

    SpillFile file_;
    std::vector<SortedRun> runs_;      // sorted by chunk
    std::vector<SortedRun> by_first_;  // of distinct chunks, sorted by first place
    std::uint64_t chunks_ = 0, chunk_bytes_ = 0;
    std::size_t memory_ = 0;
};

}  // namespace toksmith

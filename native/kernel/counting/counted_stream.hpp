// Counted chunks in order of first appearance, a batch at a time, so that they need not fit into
// memory together.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/intact.hpp"
#include "counting/distinct_chunks.hpp"
#include "counting/spilled_counts.hpp"

namespace toksmith {

class CountedStream {
 public:
    struct Totals {
        std::uint64_t chunks = 0;
        std::uint64_t occurrences = 0;
        std::uint64_t bytes = 0;  // of all occurrences
    };
    struct Batch {
        std::vector<std::uint8_t> bytes;
        std::vector<std::uint64_t> ends, counts;
    };

    // Leaves out chunks with a count below `min_count`.
    CountedStream(DistinctChunks chunks, std::uint64_t min_count);
    // Merged chunks. The stream needs them as long as it is read.
    explicit CountedStream(SpilledCounts& spilled);

    const Totals& totals() const { return totals_; }

    // At most `chunks` chunks, and as many as fit into `bytes` bytes, but at least one. Empty at
    // the end.
    Batch next(std::size_t chunks, std::size_t bytes);

 private:
    // The next chunk, or null.
    const Record* peek();

    Intact intact_{"counts cannot be read on after an error or an interruption: start again"};
    DistinctChunks chunks_;
    std::uint64_t min_count_ = 0;
    std::size_t place_ = 0;  // in chunks_
    std::unique_ptr<MergedRuns> runs_;
    Record record_{};
    const Record* waiting_ = nullptr;  // was read, but did not fit into the last batch
    Totals totals_;
};

}  // namespace toksmith

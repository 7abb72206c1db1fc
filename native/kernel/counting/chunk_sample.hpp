// A sample of the distinct chunks of a text, chosen by their hashes, with the counts of each. From
// it, the number of distinct chunks is estimated before the counting ends.
#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>

#include "counting/chunk_table.hpp"
#include "counting/spilled_counts.hpp"

namespace toksmith {

// Holds the chunks whose hash starts with some zero bits. When there are too many, one more bit
// must be zero. Equal hashes of different chunks are not told apart.
class ChunkSample {
 public:
    // Adds the chunks of a table, each counted `weight` times.
    void add(const ChunkTable& table, std::uint64_t weight);
    // Adds an estimate of the number of distinct chunks and their bytes by count, where counts are
    // divided by `unit`.
    void add_to(SpilledCounts::Tallies& tallies, std::uint64_t unit) const;

 private:
    static constexpr std::size_t kMost = std::size_t{1} << 15;

    struct Counted {
        std::uint64_t count = 0;
        std::uint64_t size = 0;  // in bytes
    };

    unsigned bits_ = 0;
    std::unordered_map<std::uint64_t, Counted> chunks_;  // by hash
};

}  // namespace toksmith

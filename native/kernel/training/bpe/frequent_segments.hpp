// The parts of all chunks that frequent pairs can occur in.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "training/bpe/chunk_store.hpp"
#include "training/bpe/pair_bounds.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

// Distinct segments in the order of their first occurrences.
struct FrequentSegments {
    std::vector<Id> symbols;
    std::vector<std::uint64_t> ends, counts;
    std::uint64_t least = 0;  // the count of a frequent pair

    Counted<Id> counted() const { return {symbols.data(), ends, counts}; }
};

// How many segments may be held, and what is frequent.
struct SegmentLimits {
    std::size_t memory;   // for the segments and for training on them, in bytes; may be exceeded
    std::uint64_t least;  // a pair is frequent from this count on, if the segments fit
    std::uint64_t most;   // else from a higher count on; no pair has a higher one than this
    std::size_t threads;
};

// The memory of training on segments, in bytes for each of their symbols. They have more pairs than
// whole chunks do.
inline constexpr std::size_t kTrainingBytes = 40;

// Cuts the chunks between two symbols that are no frequent pair, and where apart(left, right) says
// that they never merge, and counts the equal segments. A symbol alone is no segment.
//
// A pair that a later merge makes occurs no more often than the two symbols at its seam do. So no
// pair that is frequent now or later crosses a cut, as long as "frequent" means the same.
FrequentSegments frequent_segments(const ChunkStore& store, const PairBounds& bounds,
                                   const std::function<bool(Id, Id)>& apart,
                                   const SegmentLimits& limits);

}  // namespace toksmith::bpe

// Cuts words into segments where no piece can cross, and counts the segments: there are far fewer
// distinct segments than distinct words.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/piece_rules.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

struct Segments {
    std::vector<Id> symbols;  // of all segments, concatenated
    std::vector<std::uint64_t> ends;
    std::vector<std::uint64_t> counts;

    CountedSymbols counted() const { return {symbols.data(), ends, counts}; }
};

// Returns the first `cut` words unchanged, followed by the distinct segments of the other words, in
// the order of their first occurrences.
Segments count_segments(const CountedSymbols& words, std::size_t cut,
                        const std::vector<PieceTraits>& alphabet, const PieceRules& rules,
                        std::size_t threads);

}  // namespace toksmith::bpe

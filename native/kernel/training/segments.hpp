// Cuts words into segments where no piece can reach across, and counts these: far fewer of them are
// distinct.
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

// The first `cut` words unchanged, then the distinct segments of the others, in the order in which
// they were first seen.
Segments count_segments(const CountedSymbols& words, std::size_t cut,
                        const std::vector<PieceTraits>& alphabet, const PieceRules& rules,
                        std::size_t threads);

}  // namespace toksmith::bpe

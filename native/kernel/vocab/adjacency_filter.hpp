// A Bloom filter of the pairs of characters beyond ASCII that are adjacent in some token. A chunk
// may be cut between all other pairs: no token reaches across, so no merge does, and the two sides
// merge independently.
//
// Even large vocabularies contain few such pairs. Long runs of letters, which rarely repeat as a
// whole, are therefore cut into parts that do repeat.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "utf8/decode.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith {

class AdjacencyFilter {
 public:
    explicit AdjacencyFilter(const Vocabulary& vocabulary);

    // Whether some token contains the characters `left` and `right` in a row; `lead`: the first
    // byte of `right`. May return true wrongly, but never false.
    bool may_adjoin(std::uint32_t left, std::uint32_t right, std::uint8_t lead) const {
        const std::size_t place = place_of(pair_of(left, right));
        return (partial_[left % 64] >> lead % 64 | filter_[place / 64] >> place % 64) & 1;
    }

 private:
    static std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
        return std::uint64_t{left} << 32 | right;
    }
    std::size_t place_of(std::uint64_t pair) const {
        return (pair * 0x9E3779B97F4A7C15ULL >> 32) & mask_;
    }

    // Pairs from tokens that contain only a part of one of the two characters: indexed by the last
    // byte of the left one (the low six bits of its code point) and the first byte of the right
    // one.
    std::array<std::uint64_t, 64> partial_{};
    std::size_t mask_;
    std::vector<std::uint64_t> filter_;
};

}  // namespace toksmith

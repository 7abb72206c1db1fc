// A Bloom filter of the pairs of characters beyond ASCII that are adjacent in some token. A chunk
// may be cut between all other pairs: no token reaches across, so no merge does, and the two sides
// merge independently.
//
// Even large vocabularies contain few such pairs. Long runs of letters, which rarely repeat as a
// whole, are therefore cut into parts that do repeat.
//
// A part must not be equal to a token that only a whole chunk becomes (vocab/whole_tokens.hpp),
// since it would be taken for that chunk. So no cut precedes the first two characters of such a
// token or follows its last two. A cut has characters beyond ASCII on both sides, so only ends
// beyond ASCII matter.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "utf8/decode.hpp"
#include "vocab/vocabulary.hpp"
#include "vocab/whole_tokens.hpp"

namespace toksmith {

class AdjacencyFilter {
 public:
    explicit AdjacencyFilter(const Vocabulary& vocabulary);

    // Forbids the cuts that could make a part equal to one of these tokens.
    void keep_whole(const WholeTokens& tokens);

    // Whether some token contains the characters `left` and `right` in a row, or a cut between them
    // is forbidden; `lead`: the first byte of `right`. May return true wrongly, but never false.
    bool may_adjoin(std::uint32_t left, std::uint32_t right, std::uint8_t lead) const {
        return (joined(left, right, lead) | ends_[left % kEnds] >> kLast |
                ends_[right % kEnds] >> kFirst) &
               1;
    }
    // The same for a caller that makes no cut before `left` or after `right` if may_be_edge()
    // returns true: it finds more cuts.
    bool may_adjoin_inside(std::uint32_t left, std::uint32_t right, std::uint8_t lead) const {
        return (joined(left, right, lead) | ends_[left % kEnds] >> kLastAlone |
                ends_[right % kEnds] >> kFirstAlone) &
               1;
    }
    bool may_be_edge(std::uint32_t left, std::uint32_t right) const {
        return edges_.may_have(pair_of(left, right)) & 1;
    }
    bool has_edges() const { return has_edges_; }

 private:
    // A set of pairs of characters as a Bloom filter with one hash function.
    class Pairs {
     public:
        // Makes room for this number of pairs, and empties the set.
        void reset(std::size_t pairs) {
            mask_ = std::bit_ceil(pairs * 16 + 64) - 1;
            bits_.assign((mask_ + 1) / 64, 0);
        }
        void add(std::uint64_t pair) {
            const std::size_t place = place_of(pair);
            bits_[place / 64] |= std::uint64_t{1} << place % 64;
        }
        // The lowest bit: whether the pair may have been added.
        std::uint64_t may_have(std::uint64_t pair) const {
            const std::size_t place = place_of(pair);
            return bits_[place / 64] >> place % 64;
        }

     private:
        std::size_t place_of(std::uint64_t pair) const {
            return (pair * 0x9E3779B97F4A7C15ULL >> 32) & mask_;
        }
        std::size_t mask_ = 0;
        std::vector<std::uint64_t> bits_;
    };

    static std::uint64_t pair_of(std::uint32_t left, std::uint32_t right) {
        return std::uint64_t{left} << 32 | right;
    }
    // The lowest bit: whether some token may contain these characters in a row.
    std::uint64_t joined(std::uint32_t left, std::uint32_t right, std::uint8_t lead) const {
        return partial_[left % 64] >> lead % 64 | pairs_.may_have(pair_of(left, right));
    }
    void mark(std::uint32_t code, int bit) {
        ends_[code % kEnds] |= static_cast<std::uint8_t>(1 << bit);
    }

    // Pairs from tokens that contain only a part of one of the two characters: indexed by the last
    // byte of the left one (the low six bits of its code point) and the first byte of the right
    // one.
    std::array<std::uint64_t, 64> partial_{};
    Pairs pairs_;

    // The first two and the last two characters of the tokens to keep whole, if both are beyond
    // ASCII.
    Pairs edges_;
    bool has_edges_ = false;
    // By code point: whether a token to keep whole starts or ends with the character, or with
    // another one of the same place; and whether it does so without another character beyond ASCII
    // next to it (kFirstAlone, kLastAlone).
    static constexpr std::size_t kEnds = 4096;
    static constexpr int kFirst = 0, kLast = 1, kFirstAlone = 2, kLastAlone = 3;
    std::array<std::uint8_t, kEnds> ends_{};
};

}  // namespace toksmith

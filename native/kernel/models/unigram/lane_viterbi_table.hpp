// Tables for segmenting short chunks of a Unigram model in vector lanes (viterbi_lanes.inc).
//
// They cover chunks of ASCII in which each byte becomes one character that is a piece, so that no
// character is unknown. UnigramModel segments all other chunks.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/huge_page_array.hpp"
#include "base/id_array.hpp"
#include "models/unigram/score_bound.hpp"
#include "vocab/byte_trie.hpp"

namespace toksmith::unigram {

// How the normalizer maps the bytes of a chunk. Only chunks that it maps this way run in lanes.
struct LaneTexts {
    struct First {
        std::array<std::uint8_t, 4> bytes;
        std::uint8_t size;  // bytes of UTF-8; 0: the byte cannot be first
    };
    std::array<First, 256> first{};
    bool is_complete = false;  // every byte of ASCII becomes at most one character
    // Bytes that become a space, of which several in a row collapse; only at the start of a chunk.
    std::array<bool, 256> collapse{};
    std::array<std::uint8_t, 256> later{};  // 0: the byte can only be first
};

class LaneViterbiTable {
 public:
    // The character that a byte becomes: the place of its piece in the trie, the node and the score
    // there, and its first byte.
    struct Character {
        std::uint32_t place = 0, node, score, byte;  // place 0: the byte is not covered
    };

    // `scores`: by place in the trie; -infinity where no token ends.
    LaneViterbiTable(const ByteTrie& trie, const std::vector<float>& scores, const LaneTexts& texts,
                     Costs costs);

    // The index of the first byte after the leading space, or after the spaces that collapse into
    // it.
    std::size_t after_first(const std::uint8_t* chunk, std::size_t size) const {
        std::size_t i = 1;
        if (collapse_[chunk[0]]) {
            while (i < size && collapse_[chunk[i]]) ++i;
        }
        return i;
    }
    const Character& first(std::uint8_t byte) const { return first_[byte]; }
    const Character& later(std::uint8_t byte) const { return later_[byte]; }
    // An upper bound of the change that a chunk of `size` bytes makes to the sum: the best path
    // costs at most as much as the path of single characters.
    std::uint32_t most(std::size_t size) const {
        return 2 + static_cast<std::uint32_t>(most_a_byte_ * static_cast<float>(size));
    }

    // By place in the trie: the node in the low half, and the score of its token, a float, in the
    // high half.
    const std::uint64_t* places() const { return places_.data(); }
    float score(std::size_t place) const {
        return std::bit_cast<float>(static_cast<std::uint32_t>(places_.data()[place] >> 32));
    }
    Id token(std::size_t place) const { return trie_.token(place); }
    CarriedScoreModel::ScoreBound score_bound(const Margin<float>& margin) const {
        return score_bound_of(margin, costs_);
    }

 private:
    Character character(const std::uint8_t* bytes, std::size_t size) const;

    const ByteTrie& trie_;
    Costs costs_;
    std::array<Character, 256> first_, later_;
    std::array<bool, 256> collapse_;
    float most_a_byte_;
    HugePageArray<std::uint64_t> places_;
};

}  // namespace toksmith::unigram

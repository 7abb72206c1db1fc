// Tables for segmenting short chunks of a Unigram model in vector lanes (viterbi_lanes.inc).
//
// They cover chunks of ASCII whose bytes each become one character that is a piece, so that nothing
// is unknown. Other chunks of ASCII are left to the model.
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

// The normalized form of the bytes of a chunk.
struct LaneTexts {
    struct First {
        std::array<std::uint8_t, 4> bytes;
        std::uint8_t size;  // 0: no such chunk starts with this byte
    };
    std::array<First, 256> first{};
    bool told = false;  // whether every byte of ASCII becomes at most one character
    // Spaces that collapse into one; only at the start of a chunk.
    std::array<bool, 256> collapse{};
    std::array<std::uint8_t, 256> later{};  // 0: the byte is in such chunks at most the first
};

class LaneViterbiTable {
 public:
    // The character that a byte becomes: the place of its piece in the trie, the entry of places()
    // there and, except for the first character, its byte.
    struct Character {
        std::uint32_t place = 0, node, score, byte;  // place 0: the byte is in no such chunk
    };

    // `scores`: by place of the trie; -infinity where no token ends.
    LaneViterbiTable(const ByteTrie& trie, const std::vector<float>& scores, const LaneTexts& texts,
                     Costs costs);

    // Index of the first byte after the leading space, or after the spaces that collapse into it.
    std::size_t behind_first(const std::uint8_t* chunk, std::size_t size) const {
        std::size_t i = 1;
        if (collapse_[chunk[0]]) {
            while (i < size && collapse_[chunk[i]]) ++i;
        }
        return i;
    }
    const Character& first(std::uint8_t byte) const { return first_[byte]; }
    const Character& later(std::uint8_t byte) const { return later_[byte]; }
    // The most by which a chunk of `size` bytes moves the sum: the best path costs no more than the
    // one of single characters.
    std::uint32_t most(std::size_t size) const {
        return 2 + static_cast<std::uint32_t>(most_a_byte_ * static_cast<float>(size));
    }

    // By place: the trie's node and, above it, the score of the token that ends there, as a float.
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

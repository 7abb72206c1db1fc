// What finding the best ways of chunks side by side needs of a Unigram model (see find_paths.inc).
//
// This is for chunks of ASCII whose bytes become one character each, which is a piece: nothing is
// unknown there. Other chunks of ASCII come along, and are left to the model.
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

// What the bytes of a chunk become.
struct LaneTexts {
    struct First {
        std::array<std::uint8_t, 4> bytes;
        std::uint8_t size;  // 0: it stands first in no such chunk
    };
    std::array<First, 256> first{};
    bool told = false;  // whether all bytes of ASCII become one character at most
    // Spaces of which several become one; only first in a chunk.
    std::array<bool, 256> collapse{};
    std::array<std::uint8_t, 256> later{};  // 0: it stands in no such chunk but first
};

class LaneViterbiTable {
 public:
    // What a character of a chunk becomes: the place of its piece and what stands there, see
    // places(); and, but for the first one, its byte.
    struct Character {
        std::uint32_t place = 0, node, score, byte;  // place 0: it stands in no such chunk
    };

    // `scores`: by place of the trie; below all numbers where no token ends.
    LaneViterbiTable(const ByteTrie& trie, const std::vector<float>& scores, const LaneTexts& texts,
                     Costs costs);

    // Where the second character comes from.
    std::size_t behind_first(const std::uint8_t* chunk, std::size_t size) const {
        std::size_t i = 1;
        if (collapse_[chunk[0]]) {
            while (i < size && collapse_[chunk[i]]) ++i;
        }
        return i;
    }
    const Character& first(std::uint8_t byte) const { return first_[byte]; }
    const Character& later(std::uint8_t byte) const { return later_[byte]; }
    // By how much a chunk of so many bytes moves a sum at most, in whichever way it is put
    // together: the best way costs no more than that of single characters.
    std::uint32_t most(std::size_t size) const {
        return 2 + static_cast<std::uint32_t>(most_a_byte_ * static_cast<float>(size));
    }

    // By place: the node there and, above it, the score of the token that ends there, as a float.
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

// SentencePiece's compiled map of characters ("precompiled_charsmap"): strings and their
// replacements, as a double array in the layout of darts-clone. src/toksmith/stages/charsmap.py
// describes the format.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>
#include <vector>

#include "utf8/decode.hpp"

namespace toksmith {

class CharacterMap {
 public:
    // Returns nothing if the map is damaged: a key or a replacement is invalid UTF-8, a place is
    // outside of the map, or the trie loops. An empty map changes nothing.
    static std::optional<CharacterMap> read(std::string_view charsmap);

    struct Match {
        std::size_t size = 0;  // of the key, in bytes; 0: no key
        std::string_view text;
    };
    // The longest key that starts at p, and its replacement; p < end. A key does not match a byte
    // of invalid UTF-8.
    Match longest(const std::uint8_t* p, const std::uint8_t* end) const;

    // The characters that some key starts with, and those inside keys but not first; ascending.
    const std::vector<std::uint32_t>& firsts() const { return firsts_; }
    const std::vector<std::uint32_t>& laters() const { return laters_; }

 private:
    using Unit = std::uint32_t;
    static constexpr Unit kLeaf = Unit{1} << 31, kHasLeaf = Unit{1} << 8;

    class Reader;

    std::size_t base_of(std::size_t node) const {
        const Unit unit = units_[node];
        return node ^ (std::size_t{unit >> 10 & 0x1FFFFFu} << ((unit & 1u << 9) >> 6));
    }
    // Moves to the child of a node along a byte. Returns false if there is none.
    bool step(std::size_t& node, std::uint8_t byte) const {
        const std::size_t child = base_of(node) ^ byte;
        if ((units_[child] & (kLeaf | 0xFFu)) != byte) return false;
        node = child;
        return true;
    }
    std::string_view replacement(std::size_t node) const {
        return texts_.data() + (units_[base_of(node)] ^ kLeaf);
    }

    std::vector<Unit> units_;
    std::vector<char> texts_;  // each ends with a zero
    std::vector<std::uint32_t> firsts_, laters_;
};

}  // namespace toksmith

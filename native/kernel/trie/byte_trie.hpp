// The bytes of many tokens as a tree in one array: a double array whose nodes are found by
// exclusive or (Aoe 1989; the layout with labels is that of darts-clone).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "huge_array.hpp"
#include "ids.hpp"

namespace toksmith {

class ByteTrie {
 public:
    struct Entry {
        std::string_view bytes;
        Id id;
    };
    static constexpr Id kNone = 0xFFFFFFFFu;
    static constexpr std::size_t kMostIds = (std::size_t{1} << 23) - 1;

    // Entries without bytes are left out; where equal bytes have several ids, the lowest counts.
    // Throws std::invalid_argument where an id is kMostIds or more.
    explicit ByteTrie(std::vector<Entry> entries);

    // A node is told by the place of its children: a child's place is that and its byte, xored.
    using Node = std::uint32_t;
    Node root() const { return root_; }

    // Goes one byte further, if the trie does. `id`: of the token that ends there, or kNone.
    bool step(Node& node, std::uint8_t byte, Id& id) const {
        const Unit unit = units_.data()[node ^ byte];
        if ((unit.label & 0x1FF) != (kUsed | byte)) return false;
        node = unit.children;
        id = (unit.label >> 9) - 1;
        return true;
    }

    // The longest token that the text starts with, and its length; or kNone.
    Id longest(const std::uint8_t* text, std::size_t size, std::size_t& length) const {
        Id best = kNone, id;
        Node node = root_;
        for (std::size_t i = 0; i < size && step(node, text[i], id); ++i) {
            if (id != kNone) best = id, length = i + 1;
        }
        return best;
    }

    // The token that is this text, or kNone.
    Id find(const std::uint8_t* text, std::size_t size) const {
        std::size_t length = 0;
        const Id id = longest(text, size, length);
        return length == size ? id : kNone;
    }

 private:
    struct Unit {
        std::uint32_t children;
        std::uint32_t label;  // its byte in 8 bits, kUsed, and one more than its id (0: none)
    };
    static constexpr std::uint32_t kUsed = 0x100;

    class Builder;
    explicit ByteTrie(const Builder& built);

    Node root_;
    HugeArray<Unit> units_;
};

}  // namespace toksmith

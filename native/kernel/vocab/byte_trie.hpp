// A byte trie in one array: a double array whose children are found by exclusive or (Aoe 1989; the
// layout with labels is that of darts-clone).
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/huge_page_array.hpp"
#include "base/id_array.hpp"

namespace toksmith {

class ByteTrie {
 public:
    struct Entry {
        std::string_view bytes;
        Id id;
    };
    static constexpr Id kNone = 0xFFFFFFFFu;

    // Empty entries are left out. Of equal entries, the lowest id counts. Throws
    // std::invalid_argument if there are more than 8 million nodes.
    explicit ByteTrie(std::vector<Entry> entries);

    // A node: the base of its children (a child is at base ^ byte), a bit that says whether a token
    // ends here, and the byte that leads here.
    using Node = std::uint32_t;
    Node root() const { return root_; }

    // Moves to the child for this byte, if there is one.
    bool step(Node& node, std::uint8_t byte, std::size_t& place) const {
        place = node >> 9 ^ byte;
        const Node next = nodes_.data()[place];
        if ((next & 0xFF) != byte) return false;
        node = next;
        return true;
    }
    // Steps without branches.
    class Walk {
     public:
        explicit Walk(const ByteTrie& trie) : nodes_(trie.nodes_.data()), node_(trie.root_) {}
        // The place of the child; or place 0, where no token ends, once there was none.
        std::size_t step(std::uint8_t byte) {
            const Node place = node_ >> 9 ^ byte;
            node_ = nodes_[place];
            differs_ |= (node_ ^ byte) & 0xFF;
            return place & static_cast<Node>(static_cast<std::int32_t>(differs_ - 1) >> 31);
        }
        bool goes() const { return differs_ == 0; }
        Node node() const { return node_; }

     private:
        const Node* nodes_;
        Node node_, differs_ = 0;
    };
    // The node at a place that step() returned.
    Node at(std::size_t place) const { return nodes_.data()[place]; }
    static bool ends_token(Node node) { return node & kEndsToken; }
    // The token of the node at this place.
    Id token(std::size_t place) const { return ids_.data()[place]; }

    std::size_t places() const { return places_; }
    bool has_token(std::size_t place) const { return ends_token(nodes_.data()[place]); }

    // Prefetches the node that a walk over these two bytes reads.
    void prefetch(std::uint8_t first, std::uint8_t second) const {
        const Node next = nodes_.data()[root_ >> 9 ^ first];
        __builtin_prefetch(nodes_.data() + (next >> 9 ^ second));
    }

    // The longest token that the text starts with, and its length; kNone if there is none.
    Id longest(const std::uint8_t* text, std::size_t size, std::size_t& length) const {
        Id best = kNone;
        Node node = root_;
        std::size_t place = 0;
        for (std::size_t i = 0; i < size && step(node, text[i], place); ++i) {
            if (ends_token(node)) best = token(place), length = i + 1;
        }
        return best;
    }

    // The token equal to this text, or kNone.
    Id find(const std::uint8_t* text, std::size_t size) const {
        std::size_t length = 0;
        const Id id = longest(text, size, length);
        return length == size ? id : kNone;
    }

 private:
    static constexpr Node kEndsToken = 0x100;

    class Builder;
    explicit ByteTrie(const Builder& built);

    Node root_;
    std::size_t places_;
    HugePageArray<Node> nodes_;
    HugePageArray<Id> ids_;  // by place
};

}  // namespace toksmith

// A trie over bytes in one array: a double array in which a child is found by XOR (Aoe 1989; with
// the layout of darts-clone).
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

    // Ignores empty entries. If entries are equal, the lowest id counts. Throws
    // std::invalid_argument for more than 8 million nodes.
    explicit ByteTrie(std::vector<Entry> entries);

    // A node, packed into 32 bits: the base of its children (a child is at base ^ byte), a bit that
    // says whether a token ends here, and the byte of the edge to it.
    using Node = std::uint32_t;
    Node root() const { return root_; }

    // Moves to the child for `byte`. Returns false if there is none.
    bool step(Node& node, std::uint8_t byte, std::size_t& place) const {
        place = node >> 9 ^ byte;
        const Node next = nodes_.data()[place];
        if ((next & 0xFF) != byte) return false;
        node = next;
        return true;
    }
    // A walk from a node downwards without branches.
    class Walk {
     public:
        explicit Walk(const ByteTrie& trie) : nodes_(trie.nodes_.data()), node_(trie.root_) {}
        // Returns the place of the child for `byte`; place 0, where no token ends, if there is none
        // or the walk has left the trie.
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
    // The node at a place returned by step().
    Node at(std::size_t place) const { return nodes_.data()[place]; }
    static bool ends_token(Node node) { return node & kEndsToken; }
    // The id of the token that ends at a place.
    Id token(std::size_t place) const { return ids_.data()[place]; }

    std::size_t places() const { return places_; }
    bool has_token(std::size_t place) const { return ends_token(nodes_.data()[place]); }

    // Prefetches the node that a walk from the root over these two bytes reads.
    void prefetch(std::uint8_t first, std::uint8_t second) const {
        const Node next = nodes_.data()[root_ >> 9 ^ first];
        __builtin_prefetch(nodes_.data() + (next >> 9 ^ second));
    }

    // The longest token that is a prefix of the text, and its length in bytes; kNone if there is
    // none.
    Id longest(const std::uint8_t* text, std::size_t size, std::size_t& length) const {
        Id best = kNone;
        Node node = root_;
        std::size_t place = 0;
        for (std::size_t i = 0; i < size && step(node, text[i], place); ++i) {
            if (ends_token(node)) best = token(place), length = i + 1;
        }
        return best;
    }

    // The id of the token that equals the text, or kNone.
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

// The characters of many tokens as a tree, in two flat arrays.
//
// Nodes are numbered breadth first, so the children of a node stand side by side, ordered by
// character, and a node comes after all that are nearer to a root.
#pragma once

#include <algorithm>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "base/id_array.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::wordpiece {

using Node = std::uint32_t;
inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;  // no such node, or no such id

class Trie {
 public:
    struct Entry {
        std::string_view text;
        Id id;
    };

    // One tree for each list of entries; they are sorted in place. Texts that are no UTF-8 are left
    // out; where equal texts have several ids, the lowest counts. The roots are the first nodes.
    explicit Trie(std::span<std::vector<Entry>> trees);

    // The node one character further on, or kNone.
    Node child(Node node, std::uint32_t code) const {
        const auto first = codes_.begin() + children_[node];
        const auto last = codes_.begin() + children_[node + 1];
        const auto found = std::lower_bound(first, last, code);
        return found != last && *found == code ? static_cast<Node>(found - codes_.begin()) : kNone;
    }

    std::size_t size() const { return codes_.size(); }
    std::uint32_t code(Node node) const { return codes_[node]; }
    // All children of `node`: the nodes from the first up to the second.
    std::pair<Node, Node> children(Node node) const {
        return {children_[node], children_[node + 1]};
    }
    // The token that ends at each node, or kNone.
    const std::vector<Id>& tokens() const { return tokens_; }

 private:
    std::vector<std::uint32_t> codes_;  // the character that leads to each node
    std::vector<Node> children_;        // the first child of each node, and one more
    std::vector<Id> tokens_;
};

}  // namespace toksmith::wordpiece

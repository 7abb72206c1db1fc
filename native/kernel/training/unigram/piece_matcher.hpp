// Finds all pieces that match in a string: an Aho-Corasick automaton.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/unigram/trainer.hpp"

namespace toksmith::unigram {

// Needs the pieces and their characters as long as it exists.
class PieceMatcher {
 public:
    // A state is the longest prefix of a piece that ends at a place of the string.
    using State = std::uint32_t;
    static constexpr State kStart = 0;  // the empty prefix

    // `pieces`: from number 1 on; `spelled`: their characters, plus 1. `alphabet`: the number of
    // characters. Throws std::invalid_argument if two pieces are equal.
    PieceMatcher(const std::vector<Piece>& pieces, const std::vector<std::uint32_t>& spelled,
                 std::size_t alphabet);

    // The state after one more character, plus 1.
    State next(State state, std::uint32_t character) const;
    // The longest piece that ends where the state is reached; 0: none.
    std::uint32_t longest(State state) const { return nodes_[state].longest; }
    // The longest other piece that ends where a piece ends; 0: none.
    std::uint32_t shorter(std::uint32_t piece) const { return ends_[piece].shorter; }
    std::uint32_t length(std::uint32_t piece) const { return ends_[piece].length; }

    const std::uint32_t* spelling(std::uint32_t piece) const {
        return spelled_.data() + pieces_[piece].place;
    }
    // The number of first characters that two pieces share.
    std::uint32_t common(std::uint32_t a, std::uint32_t b) const;
    // The pieces in the order of their characters.
    const std::vector<std::uint32_t>& in_order() const { return in_order_; }
    std::size_t bytes() const;

 private:
    struct Node {
        State shorter;  // the longest other prefix of a piece that ends there
        std::uint32_t longest;
    };
    struct Edge {
        State from;
        std::uint32_t character;  // 0: an unused slot
        State to;
    };
    struct End {
        std::uint32_t shorter, length;
    };

    void sort(std::size_t alphabet);
    void add_nodes();
    // Where an edge is, or is to be inserted.
    std::size_t slot(State from, std::uint32_t character) const;

    const std::vector<Piece>& pieces_;
    const std::vector<std::uint32_t>& spelled_;
    std::vector<std::uint32_t> in_order_;
    std::vector<End> ends_;  // of each piece
    std::vector<Node> nodes_;
    std::vector<State> first_;  // from kStart, by character
    std::vector<Edge> edges_;   // a hash table of all others
};

}  // namespace toksmith::unigram

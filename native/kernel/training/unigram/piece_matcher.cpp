#include "training/unigram/piece_matcher.hpp"

#include <algorithm>
#include <bit>
#include <stdexcept>

#include "base/hash.hpp"
#include "base/stop.hpp"
#include "training/unigram/workers.hpp"

namespace toksmith::unigram {

PieceMatcher::PieceMatcher(const std::vector<Piece>& pieces,
                           const std::vector<std::uint32_t>& spelled, std::size_t alphabet)
    : pieces_(pieces), spelled_(spelled), first_(alphabet + 1) {
    ends_.reserve(pieces.size());
    for (const Piece& piece : pieces) ends_.push_back({0, piece.length});
    sort(alphabet);
    add_nodes();
}

void PieceMatcher::sort(std::size_t alphabet) {
    // The key is as many first characters as fit, then zeros.
    struct Item {
        std::uint64_t key;
        std::uint32_t piece;
    };
    const auto bits = static_cast<unsigned>(std::bit_width(alphabet));
    const std::size_t step = 64 / bits;
    std::vector<Item> items;
    items.reserve(pieces_.size() - 1);
    InterruptionPoints<4096> points;
    for (std::uint32_t piece = 1; piece < pieces_.size(); ++piece) {
        points.step();
        std::uint64_t key = 0;
        for (std::size_t i = 0; i < step; ++i) {
            key = key << bits | (i < length(piece) ? spelling(piece)[i] : 0);
        }
        items.push_back({key, piece});
    }
    std::sort(items.begin(), items.end(),
              with_interruption(points, [&](const Item& a, const Item& b) {
                  if (a.key != b.key) return a.key < b.key;
                  const auto *left = spelling(a.piece), *right = spelling(b.piece);
                  return std::lexicographical_compare(left, left + length(a.piece), right,
                                                      right + length(b.piece));
              }));
    in_order_.reserve(items.size());
    for (const Item& item : items) in_order_.push_back(item.piece);
}

// Adds the nodes by their depth, since a node refers to less deep ones.
void PieceMatcher::add_nodes() {
    // The pieces that are not complete; the number of characters that each shares with the piece
    // before it, and the node of its characters so far.
    struct Open {
        std::uint32_t piece, shared;
        State node;
    };
    std::vector<Open> open;
    open.reserve(in_order_.size());
    std::uint64_t nodes = 1;
    InterruptionPoints<4096> points;
    for (std::size_t i = 0; i < in_order_.size(); ++i) {
        points.step();
        const std::uint32_t shared = i > 0 ? common(in_order_[i - 1], in_order_[i]) : 0;
        if (shared == length(in_order_[i])) throw std::invalid_argument("a piece is there twice");
        open.push_back({in_order_[i], shared, kStart});
        nodes += length(in_order_[i]) - shared;
    }
    // A table that is full to five eighths needs few probes.
    const std::uint64_t slots = nodes + nodes * 3 / 5;
    if (slots >> 32) throw std::length_error("the seeds are too long: use fewer seeds");
    grow(edges_, slots);
    nodes_.reserve(nodes);
    nodes_.push_back({kStart, 0});
    for (std::uint32_t depth = 0; !open.empty(); ++depth) {
        std::size_t left = 0;
        State last = kStart;  // the last node at this depth
        for (Open piece : open) {
            points.step();
            const std::uint32_t character = spelling(piece.piece)[depth];
            if (piece.shared <= depth) {
                last = static_cast<State>(nodes_.size());
                const State shorter =
                    depth > 0 ? next(nodes_[piece.node].shorter, character) : kStart;
                nodes_.push_back({shorter, nodes_[shorter].longest});
                if (depth > 0) {
                    edges_[slot(piece.node, character)] = {piece.node, character, last};
                } else {
                    first_[character] = last;
                }
            }
            piece.node = last;
            if (length(piece.piece) > depth + 1) {
                open[left++] = piece;
            } else {
                ends_[piece.piece].shorter = nodes_[last].longest;
                nodes_[last].longest = piece.piece;
            }
        }
        open.resize(left);
    }
}

std::uint32_t PieceMatcher::common(std::uint32_t a, std::uint32_t b) const {
    const std::uint32_t most = std::min(length(a), length(b));
    const auto *left = spelling(a), *right = spelling(b);
    std::uint32_t result = 0;
    while (result < most && left[result] == right[result]) ++result;
    return result;
}

std::size_t PieceMatcher::slot(State from, std::uint32_t character) const {
    const std::uint64_t hash = hash_words(from, character);
    std::size_t i = (hash >> 32) * edges_.size() >> 32;
    while (edges_[i].character && (edges_[i].from != from || edges_[i].character != character)) {
        if (++i == edges_.size()) i = 0;
    }
    return i;
}

PieceMatcher::State PieceMatcher::next(State state, std::uint32_t character) const {
    for (; state != kStart; state = nodes_[state].shorter) {
        const Edge& edge = edges_[slot(state, character)];
        if (edge.character) return edge.to;
    }
    return first_[character];
}

std::size_t PieceMatcher::bytes() const {
    return edges_.size() * sizeof(Edge) + nodes_.size() * sizeof(Node) +
           ends_.size() * sizeof(End) + in_order_.size() * sizeof(Id);
}

}  // namespace toksmith::unigram

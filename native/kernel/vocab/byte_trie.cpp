#include "vocab/byte_trie.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <deque>
#include <optional>
#include <stdexcept>

namespace toksmith {
namespace {

// A set of the 256 places of a block.
struct PlaceSet {
    std::array<std::uint64_t, 4> words{};

    void set(std::size_t i) { words[i / 64] |= std::uint64_t{1} << i % 64; }
    void reset(std::size_t i) { words[i / 64] &= ~(std::uint64_t{1} << i % 64); }
    bool any() const { return words[0] | words[1] | words[2] | words[3]; }
    bool has(std::size_t i) const { return words[i / 64] >> i % 64 & 1; }
    std::size_t first() const {
        std::size_t word = 0;
        while (words[word] == 0) ++word;
        return word * 64 + static_cast<std::size_t>(std::countr_zero(words[word]));
    }
    PlaceSet& operator&=(const PlaceSet& other) {
        for (std::size_t i = 0; i < 4; ++i) words[i] &= other.words[i];
        return *this;
    }
    // Returns the set that contains place i if this one contains place i ^ by.
    PlaceSet exchanged(std::size_t by) const {
        static constexpr std::array<std::uint64_t, 6> kLower = {
            0x5555555555555555, 0x3333333333333333, 0x0F0F0F0F0F0F0F0F,
            0x00FF00FF00FF00FF, 0x0000FFFF0000FFFF, 0x00000000FFFFFFFF};
        PlaceSet result;
        for (std::size_t i = 0; i < 4; ++i) result.words[i] = words[i ^ by >> 6];
        for (std::size_t bit = 0; bit < 6; ++bit) {
            if ((by >> bit & 1) == 0) continue;
            const int shift = 1 << bit;
            for (std::uint64_t& word : result.words)
                word = (word >> shift & kLower[bit]) | (word & kLower[bit]) << shift;
        }
        return result;
    }
};

}  // namespace

// Places the nodes level by level, so that nodes near the root, which are visited most, are
// adjacent. The children of a node lie in one block of 256 places. Every base belongs to one node
// only, so the label of a child is enough to check that it belongs to that node.
class ByteTrie::Builder {
 public:
    explicit Builder(std::vector<Entry> entries) : entries_(std::move(entries)) {
        std::erase_if(entries_, [](const Entry& entry) { return entry.bytes.empty(); });
        sort_entries();
        add_block();  // place 0, the base of nodes without children, is in this block
        open_.front().unused.reset(0);
        close(open_.front());
        open_.clear();
        std::deque<Range> waiting{{0, entries_.size(), 0, 0}};
        while (!waiting.empty()) {
            const Range range = waiting.front();
            waiting.pop_front();
            place_children(range, waiting);
        }
        std::ranges::for_each(open_, [&](const Block& block) { close(block); });
    }

    std::vector<Node> nodes;
    std::vector<Id> ids;
    Node root = 0;

 private:
    // Sorts the entries, removes repeated ones, and copies their bytes in this order: each level of
    // the trie reads them all once.
    void sort_entries() {
        struct Keyed {
            std::uint64_t start;  // the first 8 bytes, which decide most comparisons
            Entry entry;
        };
        std::vector<Keyed> keyed;
        keyed.reserve(entries_.size());
        std::size_t size = 0;
        for (const Entry& entry : entries_) {
            std::uint64_t start = 0;
            for (std::size_t i = 0; i < 8; ++i) {
                start =
                    start << 8 | (i < entry.bytes.size() ? static_cast<std::uint8_t>(entry.bytes[i])
                                                         : std::uint8_t{0});
            }
            keyed.push_back({start, entry});
            size += entry.bytes.size();
        }
        std::ranges::sort(keyed, [](const Keyed& a, const Keyed& b) {
            if (a.start != b.start) return a.start < b.start;
            const int order = a.entry.bytes.compare(b.entry.bytes);
            return order != 0 ? order < 0 : a.entry.id < b.entry.id;
        });
        bytes_.reserve(size);  // the entries point into it
        entries_.clear();
        for (const auto& [start, entry] : keyed) {
            if (!entries_.empty() && entries_.back().bytes == entry.bytes) continue;
            const char* const copy = bytes_.data() + bytes_.size();
            bytes_.insert(bytes_.end(), entry.bytes.begin(), entry.bytes.end());
            entries_.push_back({{copy, entry.bytes.size()}, entry.id});
        }
    }

    // The sorted entries below a node: they share its first `depth` bytes.
    struct Range {
        std::size_t first, last, depth;
        std::size_t place;  // of the node; 0 for the root
    };
    struct Block {
        std::size_t start;
        PlaceSet free, unused;  // places without a node, and places that are no node's base
    };

    void place_children(const Range& range, std::deque<Range>& waiting) {
        std::size_t i = range.first;
        if (range.depth > 0 && entries_[i].bytes.size() == range.depth) {
            nodes[range.place] |= kEndsToken;
            ids[range.place] = entries_[i].id;
            ++i;
        }
        if (i == range.last) return;
        labels_.clear();
        const std::size_t first = waiting.size();
        while (i < range.last) {
            const auto label = static_cast<std::uint8_t>(entries_[i].bytes[range.depth]);
            std::size_t end = i + 1;
            while (end < range.last &&
                   static_cast<std::uint8_t>(entries_[end].bytes[range.depth]) == label) {
                ++end;
            }
            labels_.push_back(label);
            waiting.push_back({i, end, range.depth + 1, 0});
            i = end;
        }
        const Node place = place_for_children();
        (range.depth > 0 ? nodes[range.place] : root) |= place << 9;
        for (std::size_t child = 0; child < labels_.size(); ++child) {
            waiting[first + child].place = place ^ labels_[child];
            nodes[place ^ labels_[child]] = labels_[child];
        }
    }

    Node place_for_children() {
        for (std::size_t i = 0; i < open_.size(); ++i) {
            if (const auto base = base_in(open_[i])) return take(i, *base);
        }
        add_block();
        if (open_.size() > kOpen) {
            close(open_.front());
            open_.erase(open_.begin());
        }
        return take(open_.size() - 1, 0);
    }

    // An unused base of a block at which the places of all labels are free.
    std::optional<std::size_t> base_in(const Block& block) const {
        PlaceSet fitting = block.unused;
        for (const std::uint8_t label : labels_) {
            fitting &= block.free.exchanged(label);
            if (!fitting.any()) return {};
        }
        return fitting.first();
    }

    Node take(std::size_t index, std::size_t place) {
        Block& block = open_[index];
        block.unused.reset(place);
        for (const std::uint8_t label : labels_) block.free.reset(place ^ label);
        const auto node = static_cast<Node>(block.start + place);
        if (!block.free.any()) open_.erase(open_.begin() + static_cast<std::ptrdiff_t>(index));
        return node;
    }

    void add_block() {
        if (nodes.size() >= kMostPlaces)
            throw std::invalid_argument("the vocabulary needs a trie of more than 8 million nodes");
        Block block{nodes.size(), {}, {}};
        block.free.words.fill(~std::uint64_t{0});
        block.unused = block.free;
        nodes.resize(nodes.size() + 256);
        ids.resize(nodes.size());
        open_.push_back(block);
    }

    // Writes labels that no step can match to the free places of a block: the labels that children
    // of an unused base would have. An unused base exists as long as a place is free, since each
    // used base has at least one child.
    void close(const Block& block) {
        if (!block.free.any()) return;
        const std::size_t nobodys = block.unused.first();
        for (std::size_t place = 0; place < 256; ++place) {
            if (block.free.has(place)) {
                nodes[block.start + place] = static_cast<Node>(place ^ nobodys);
            }
        }
    }

    static constexpr std::size_t kMostPlaces = (std::size_t{1} << 23) - 256;
    static constexpr std::size_t kOpen = 2;  // blocks that are still searched for free places

    std::vector<Entry> entries_;
    std::vector<char> bytes_;  // of all entries
    std::vector<Block> open_;
    std::vector<std::uint8_t> labels_;
};

ByteTrie::ByteTrie(std::vector<Entry> entries) : ByteTrie(Builder(std::move(entries))) {}

ByteTrie::ByteTrie(const Builder& built)
    : root_(built.root),
      places_(built.nodes.size()),
      nodes_(built.nodes.size()),
      ids_(built.ids.size()) {
    std::ranges::copy(built.nodes, nodes_.data());
    std::ranges::copy(built.ids, ids_.data());
}

}  // namespace toksmith

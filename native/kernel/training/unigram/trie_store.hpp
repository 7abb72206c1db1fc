// The blocks of tries of a training, in memory or, beyond a limit, in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <vector>

#include "counting/runs.hpp"

namespace toksmith::unigram {

// Strings in order, as a trie. A string has a node for each character that comes after the prefix
// it shares with the string before. A node has the arcs that end there, the shortest first: one of
// length 1, which shows where the arcs of a node begin.
struct Trie {
    struct String {
        std::uint32_t end;     // of the arcs of its nodes, in `arcs`
        std::uint32_t shared;  // the length of the prefix that it shares with the string before
        std::uint64_t value;   // the count of a word; the number of a piece, or 0
    };
    std::vector<std::uint32_t> arcs;
    std::vector<String> strings;

    void clear() {
        arcs.clear();
        strings.clear();
    }
    // Ends a string. Throws std::length_error if there are too many arcs.
    void end(std::uint32_t shared, std::uint64_t value);
    std::size_t bytes() const {
        return arcs.size() * sizeof(arcs[0]) + strings.size() * sizeof(String);
    }
};

// Different blocks may be used by different threads. Throws std::system_error if the file fails.
class TrieStore {
 public:
    // `file`: null: all blocks are in memory.
    explicit TrieStore(BlockFile* file = nullptr) : file_(file) {}

    std::size_t size() const { return blocks_.size(); }
    // Sets how many bytes of blocks may be in memory; of those that are put from now on.
    void limit(std::size_t memory) { memory_ = memory; }
    // Sets a block, which may be new. May leave `trie` empty.
    void put(std::size_t number, Trie& trie);
    // Returns a block. If it is in the file, it is read into `buffer`.
    const Trie& get(std::size_t number, Trie& buffer) const;
    // Returns a block to change and to put back, in `buffer`.
    Trie& take(std::size_t number, Trie& buffer);

 private:
    struct Block {
        Trie trie;                         // unless in the file
        std::vector<std::uint32_t> place;  // the blocks of the file; empty: in memory
        std::size_t arcs = 0, strings = 0;
        std::uint64_t checksum = 0;
    };

    void read(const Block& block, Trie& trie) const;

    BlockFile* file_;
    std::size_t memory_ = 0;
    std::unique_ptr<std::mutex> guard_ = std::make_unique<std::mutex>();
    std::size_t held_ = 0;  // bytes of the blocks in memory
    std::deque<Block> blocks_;
};

}  // namespace toksmith::unigram

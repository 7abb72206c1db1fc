// Counts the pairs of stored chunks. If they do not fit into memory, they are counted in parts.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"
#include "base/stop.hpp"
#include "training/bpe/chunk_store.hpp"
#include "training/bpe/pair_index.hpp"

namespace toksmith::bpe {

// A pair of the whole text.
struct TextPair {
    Id left, right;
    std::uint64_t count;
    std::uint64_t size;  // of the distinct chunks that it occurs in, in symbols
    std::uint64_t worth = 0;
};

// Counts the pairs of one of `parts` parts, into which all pairs are divided by their hashes.
class TextPairCounter {
 public:
    TextPairCounter(std::size_t part, std::size_t parts) : part_(part), parts_(parts) {}

    void add(const ChunkStore::Chunks& chunks) {
        InterruptionPoints<1024> points;
        std::size_t i = 0;
        for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
            const std::size_t end = chunks.ends[chunk], size = end - i;
            points.in_parts(size, [](std::size_t, std::size_t) {});
            for (; i + 1 < end; ++i) {
                const Id left = chunks.symbols[i], right = chunks.symbols[i + 1];
                if (part_of(left, right) == part_) add(left, right, chunks.counts[chunk], size);
            }
            i = end;
        }
    }

    const std::vector<TextPair>& pairs() const { return pairs_; }
    // In bytes, with room for the next pairs.
    std::size_t memory() const { return pairs_.capacity() * (sizeof(TextPair) + kIndexBytes); }

 private:
    static constexpr std::size_t kIndexBytes = 96;  // for each pair

    // By other bits of the hash than those that the index uses.
    std::size_t part_of(Id left, Id right) const {
        return (hash_word(pair_key(left, right)) >> 48) % parts_;
    }
    void add(Id left, Id right, std::uint64_t count, std::size_t size) {
        const auto next = static_cast<std::uint32_t>(pairs_.size());
        const std::uint32_t number = index_.find_or_add(left, right, next);
        if (number == next) pairs_.push_back({left, right, 0, 0});
        pairs_[number].count += count;
        pairs_[number].size += size;
    }

    std::size_t part_, parts_;
    PairIndex index_;
    std::vector<TextPair> pairs_;
};

}  // namespace toksmith::bpe

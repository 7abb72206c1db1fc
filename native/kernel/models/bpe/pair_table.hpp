// A hash table from pairs of ids to merges.
#pragma once

#include <bit>
#include <cstdint>

#include "base/hash.hpp"
#include "base/huge_page_array.hpp"
#include "base/id_array.hpp"

namespace toksmith::bpe {

struct Merge {
    std::uint32_t rank;
    Id id;
};

inline constexpr std::uint32_t kNoRank = 0xFFFFFFFFu;

inline std::uint64_t pair_key(Id left, Id right) {
    return static_cast<std::uint64_t>(left) << 32 | right;
}

// Most of the pairs that are looked up do not merge. A bit filter, small enough for the processor's
// cache, rejects nearly all of them.
class PairTable {
 public:
    explicit PairTable(std::size_t merges)
        : mask_(std::bit_ceil(merges + merges / 2 + 16) - 1),
          slots_(mask_ + 1),
          filter_mask_(std::bit_ceil(merges * 8 + 64) - 1),
          filter_((filter_mask_ + 1) / 64) {}

    void insert(Id left, Id right, Merge merge) {
        const std::uint64_t key = stored_key(left, right);
        const std::uint64_t hash = hash_of(key);
        filter_.data()[(hash & filter_mask_) / 64] |= std::uint64_t{1} << hash % 64;
        std::size_t i = place(hash);
        while (slots_.data()[i].key != 0) i = (i + 1) & mask_;
        slots_.data()[i] = {key, merge};
    }

    // The merge of a pair; rank kNoRank if it does not merge.
    Merge find(Id left, Id right) const {
        const std::uint64_t key = stored_key(left, right);
        const std::uint64_t hash = hash_of(key);
        if ((filter_.data()[(hash & filter_mask_) / 64] >> hash % 64 & 1) == 0) return {kNoRank, 0};
        for (std::size_t i = place(hash);; i = (i + 1) & mask_) {
            const Slot& slot = slots_.data()[i];
            // Before the next check, because the key of (kNone, kNone) is 0, too.
            if (slot.key == 0) return {kNoRank, 0};
            if (slot.key == key) return slot.merge;
        }
    }

 private:
    struct Slot {
        std::uint64_t key;  // 0: empty
        Merge merge;
    };

    static std::uint64_t stored_key(Id left, Id right) { return pair_key(left, right) + 1; }

    static std::uint64_t hash_of(std::uint64_t key) { return hash_word(key); }
    // Uses other bits of the hash than the filter, to spread the false positives of the filter.
    std::size_t place(std::uint64_t hash) const { return (hash >> 32) & mask_; }

    std::size_t mask_;
    HugePageArray<Slot> slots_;
    std::size_t filter_mask_;
    HugePageArray<std::uint64_t> filter_;
};

}  // namespace toksmith::bpe

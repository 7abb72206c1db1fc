// From a pair of ids to its merge.
#pragma once

#include <bit>
#include <cstdint>

#include "hash.hpp"
#include "huge_array.hpp"
#include "ids.hpp"

namespace toksmith::bpe {

struct Merge {
    std::uint32_t rank;
    Id id;
};

inline constexpr std::uint32_t kNoRank = 0xFFFFFFFFu;

inline std::uint64_t pair_key(Id left, Id right) {
    return static_cast<std::uint64_t>(left) << 32 | right;
}

class PairTable {
 public:
    explicit PairTable(std::size_t merges)
        : mask_(std::bit_ceil(merges * 2 + 16) - 1), slots_(mask_ + 1) {}

    void insert(Id left, Id right, Merge merge) {
        const std::uint64_t key = stored_key(left, right);
        std::size_t i = place(key);
        while (slots_.data()[i].key != 0) i = (i + 1) & mask_;
        slots_.data()[i] = {key, merge};
    }

    // `rank` is kNoRank where the pair has no merge.
    Merge find(Id left, Id right) const {
        const std::uint64_t key = stored_key(left, right);
        for (std::size_t i = place(key);; i = (i + 1) & mask_) {
            const Slot& slot = slots_.data()[i];
            if (slot.key == key) return slot.merge;
            if (slot.key == 0) return {kNoRank, 0};
        }
    }

 private:
    struct Slot {
        std::uint64_t key;  // 0: empty
        Merge merge;
    };

    static std::uint64_t stored_key(Id left, Id right) { return pair_key(left, right) + 1; }

    std::size_t place(std::uint64_t key) const {
        return (mix(key, 0x9E3779B97F4A7C15ULL) >> 7) & mask_;
    }

    std::size_t mask_;
    HugeArray<Slot> slots_;
};

}  // namespace toksmith::bpe

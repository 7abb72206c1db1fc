// From a pair of ids to its merge.
#pragma once

#include <cstdint>
#include <vector>

#include "hash.hpp"
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
    explicit PairTable(std::size_t merges) {
        std::size_t slots = 16;
        while (slots < merges * 2) slots *= 2;
        slots_.assign(slots, Slot{kEmpty, {kNoRank, 0}});
        mask_ = slots - 1;
    }

    void insert(Id left, Id right, Merge merge) {
        const std::uint64_t key = pair_key(left, right);
        std::size_t i = place(key);
        while (slots_[i].key != kEmpty) i = (i + 1) & mask_;
        slots_[i] = {key, merge};
    }

    // `rank` is kNoRank where the pair has no merge.
    Merge find(Id left, Id right) const {
        const std::uint64_t key = pair_key(left, right);
        for (std::size_t i = place(key);; i = (i + 1) & mask_) {
            const Slot& slot = slots_[i];
            if (slot.key == key) return slot.merge;
            if (slot.key == kEmpty) return {kNoRank, 0};
        }
    }

 private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    struct Slot {
        std::uint64_t key;
        Merge merge;
    };

    std::size_t place(std::uint64_t key) const {
        return (mix(key, 0x9E3779B97F4A7C15ULL) >> 7) & mask_;
    }

    std::vector<Slot> slots_;
    std::size_t mask_;
};

}  // namespace toksmith::bpe

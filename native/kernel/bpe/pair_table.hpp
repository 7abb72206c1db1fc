// From a pair of ids to its merge.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "huge_array.hpp"
#include "ids.hpp"

namespace toksmith::bpe {

struct Merge {
    std::uint32_t rank;
    Id id;
};

inline constexpr std::uint32_t kNoRank = 0xFFFFFFFFu;
inline constexpr Merge kNoMerge{kNoRank, kNoRank};

inline std::uint64_t pair_key(Id left, Id right) {
    return static_cast<std::uint64_t>(left) << 32 | right;
}

// Most pairs that are looked up have no merge; a filter of bits, which is small enough to stay
// near, tells so of nearly all of them.
//
// Hashes have 32 bits, so that many pairs can be looked up at once (see merge_rows.inc).
class PairTable {
 public:
    struct Slot {
        Id left_and_one;  // 0: empty
        Id right;
        Merge merge;
    };

    static constexpr std::uint32_t kLeft = 0x9E3779B1u, kRight = 0x85EBCA6Bu;
    static constexpr std::uint32_t kPlace = 0xC2B2AE35u;

    explicit PairTable(std::size_t merges)
        : place_bits_(bits_for(merges + merges / 2 + 16)),
          slots_(std::size_t{1} << place_bits_),
          filter_bits_(bits_for(merges * 8 + 64)),
          filter_((std::size_t{1} << filter_bits_) / 32) {}

    void insert(Id left, Id right, Merge merge) {
        const std::uint32_t hash = hash_of(left, right), bit = hash >> (32 - filter_bits_);
        filter_.data()[bit / 32] |= std::uint32_t{1} << bit % 32;
        std::size_t i = place(hash);
        while (slots_.data()[i].left_and_one != 0) i = after(i);
        slots_.data()[i] = {left + 1, right, merge};
    }

    // kNoMerge where the pair has none.
    Merge find(Id left, Id right) const {
        const std::uint32_t hash = hash_of(left, right), bit = hash >> (32 - filter_bits_);
        if ((filter_.data()[bit / 32] >> bit % 32 & 1) == 0) return kNoMerge;
        for (std::size_t i = place(hash);; i = after(i)) {
            const Slot& slot = slots_.data()[i];
            if (slot.left_and_one == left + 1 && slot.right == right) return slot.merge;
            if (slot.left_and_one == 0) return kNoMerge;
        }
    }

    const Slot* slots() const { return slots_.data(); }
    int place_bits() const { return place_bits_; }
    const std::uint32_t* filter() const { return filter_.data(); }
    int filter_bits() const { return filter_bits_; }

 private:
    static int bits_for(std::size_t size) {
        const auto bits = static_cast<int>(std::bit_width(size - 1));
        if (bits > 31) throw std::length_error("too many merges");
        return bits;
    }
    static std::uint32_t hash_of(Id left, Id right) { return left * kLeft + right * kRight; }
    // Of other bits than the filter's, so that those it lets through for nothing are spread.
    std::size_t place(std::uint32_t hash) const { return hash * kPlace >> (32 - place_bits_); }
    std::size_t after(std::size_t i) const {
        return (i + 1) & ((std::size_t{1} << place_bits_) - 1);
    }

    int place_bits_;
    HugeArray<Slot> slots_;
    int filter_bits_;
    HugeArray<std::uint32_t> filter_;
};

}  // namespace toksmith::bpe

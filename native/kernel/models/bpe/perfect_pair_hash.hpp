// What pairs of numbers become, for vectors to look up: each in one step, without a guess.
//
// No two pairs share a slot. Pairs are in buckets by hash, and those of one bucket are moved on
// together until all of them meet free slots, those of large buckets first (Belazzougui, Botelho
// and Dietzfelbinger, Hash, displace, and compress, 2009). Buckets stay near; they also tell of
// most pairs that they are not in the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

#include "base/huge_page_array.hpp"

namespace toksmith::bpe {

class PerfectPairHash {
 public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    static constexpr int kBits = 21;  // of a number

    struct Pair {
        std::uint32_t left, right;  // not 0
        std::uint32_t number;       // that they become
    };

    // Of pairs given twice, the first one counts. Nothing where some cannot be kept apart: no
    // merges of a vocabulary, but perhaps some that were looked for.
    static std::optional<PerfectPairHash> make(std::span<const Pair> pairs);

    // What a pair becomes, kNone if nothing: as vectors look it up, too.
    std::uint32_t find(std::uint32_t left, std::uint32_t right) const;

    // Hashes have 32 bits, so that vectors can make them.
    static constexpr std::uint32_t kLeft = 0x9E3779B1u, kRight = 0x85EBCA6Bu;
    static constexpr std::uint32_t kPlace = 0xC2B2AE35u;
    // A bucket: by how much its pairs are moved on; and above, a bit for each of them, the number
    // of which are some bits of its hash.
    static constexpr int kMoveBits = 16;
    static constexpr std::uint32_t kMoveMask = (1u << kMoveBits) - 1;
    static constexpr int kBitPlace = 12;
    static constexpr std::uint32_t kBitMask = 32 - kMoveBits - 1;
    const std::uint32_t* buckets() const { return buckets_.data(); }
    int bucket_bits() const { return bucket_bits_; }
    // A slot: the left number, the right one and what they become; 0 if it is free.
    const std::uint64_t* slots() const { return slots_.data(); }
    int slot_bits() const { return slot_bits_; }

 private:
    explicit PerfectPairHash(std::size_t pairs);
    bool place(std::span<const Pair> pairs);
    std::optional<std::uint32_t> free_move(std::span<const Pair> pairs,
                                           std::vector<bool>& taken) const;
    std::uint32_t bucket_of(std::uint32_t hash) const { return hash >> (32 - bucket_bits_); }
    std::uint32_t slot_of(std::uint32_t hash, std::uint32_t right, std::uint32_t move) const {
        return (hash + right * move) * kPlace >> (32 - slot_bits_);
    }

    int slot_bits_, bucket_bits_;  // of how many there are
    HugePageArray<std::uint64_t> slots_;
    HugePageArray<std::uint32_t> buckets_;
};

}  // namespace toksmith::bpe

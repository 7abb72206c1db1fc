// A perfect hash table from pairs of numbers to a number. A look-up has no branches and no second
// probe, so it can run in vector lanes.
//
// The table is built by "hash, displace, and compress" (Belazzougui, Botelho and Dietzfelbinger,
// 2009): pairs are hashed to buckets, and each bucket has a displacement that moves all of its
// pairs to free slots. The largest buckets are placed first. The array of buckets is small enough
// to stay in the cache; it also holds a filter that rejects most pairs that are not in the table.
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
    static constexpr int kBits = 21;  // bits of a number

    struct Pair {
        std::uint32_t left, right;  // neither is 0
        std::uint32_t number;       // the result of the pair
    };

    // If a pair occurs twice, the first one counts. Returns nothing if no displacement is found for
    // some bucket, which happens with crafted merges only.
    static std::optional<PerfectPairHash> make(std::span<const Pair> pairs);

    // The number of a pair, or kNone. merge_lanes.inc does the same in vectors.
    std::uint32_t find(std::uint32_t left, std::uint32_t right) const;

    // Hashes have 32 bits, since vectors can multiply these.
    static constexpr std::uint32_t kLeft = 0x9E3779B1u, kRight = 0x85EBCA6Bu;
    static constexpr std::uint32_t kPlace = 0xC2B2AE35u;
    // A bucket: the displacement of its pairs in the low bits, and above it a filter with one bit
    // for each pair, selected by bits of the pair's hash.
    static constexpr int kMoveBits = 16;
    static constexpr std::uint32_t kMoveMask = (1u << kMoveBits) - 1;
    static constexpr int kBitPlace = 12;
    static constexpr std::uint32_t kBitMask = 32 - kMoveBits - 1;
    const std::uint32_t* buckets() const { return buckets_.data(); }
    int bucket_bits() const { return bucket_bits_; }
    // A slot: the left number, the right number and the result, kBits each; 0 if it is free.
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

    int slot_bits_, bucket_bits_;  // log2 of the number of slots, and of buckets
    HugePageArray<std::uint64_t> slots_;
    HugePageArray<std::uint32_t> buckets_;
};

}  // namespace toksmith::bpe

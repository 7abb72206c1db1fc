// The key of a chunk in two words: the bytes and the size of a short chunk; a hash and the size of
// a longer one. encode/prefetch.inc computes the same keys in vectors.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/hash.hpp"

namespace toksmith {

struct ChunkKey {
    static constexpr std::size_t kInline = 15;        // bytes of the longest "short" chunk
    static constexpr std::uint64_t kLongMark = 0x20;  // highest byte of a longer chunk's key

    std::uint64_t low;   // of a longer chunk: the hash of its bytes
    std::uint64_t high;  // the highest byte is the size or the mark; 0: no key

    bool operator==(const ChunkKey&) const = default;
    bool is_short() const { return high >> 56 <= kInline; }
    std::size_t size() const { return is_short() ? high >> 56 : high & ~(kLongMark << 56); }
    // For short chunks only.
    const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(&low); }
    bool is_ascii() const { return ((low | high) & 0x8080808080808080) == 0; }

    // The key of a chunk. At least kReach bytes must be readable from its start.
    static constexpr std::size_t kReach = 16;
    [[gnu::always_inline]] static ChunkKey of(const std::uint8_t* p, std::size_t size) {
        if (size > kInline) return of_long(p, size);
        ChunkKey key;
        std::memcpy(&key, p, sizeof key);
        return {key.low & kMasks.low[size], (key.high & kMasks.high[size]) | kMasks.size[size]};
    }
    // `end`: the end of the readable text, at or after the end of the chunk.
    [[gnu::always_inline]] static ChunkKey of(const std::uint8_t* p, std::size_t size,
                                              const std::uint8_t* end) {
        std::uint8_t copy[kReach] = {};
        if (p + kReach > end && size <= kInline) [[unlikely]] {
            std::memcpy(copy, p, size);
            p = copy;
        }
        return of(p, size);
    }

    // The high bits of the hash are the best mixed ones.
    static constexpr std::uint64_t kFactors[] = {0x5851F42D, 0x9E3779B97F4A7C15};
    std::uint64_t hash() const { return (low + high * kFactors[0]) * kFactors[1]; }

 private:
    // By size of a chunk: the masks of its bytes in both words, and the size as highest byte of the
    // key.
    struct Masks {
        std::array<std::uint64_t, kInline + 1> low, high, size;
    };
    static constexpr Masks kMasks = [] {
        Masks masks{};
        for (std::size_t size = 0; size <= kInline; ++size) {
            for (std::size_t i = 0; i < size; ++i) {
                (i < 8 ? masks.low : masks.high)[size] |= std::uint64_t{0xFF} << i % 8 * 8;
            }
            masks.size[size] = std::uint64_t{size} << 56;
        }
        return masks;
    }();

    [[gnu::noinline, gnu::cold]] static ChunkKey of_long(const std::uint8_t* p, std::size_t size) {
        return {hash_bytes(p, size), kLongMark << 56 | size};
    }
};

}  // namespace toksmith

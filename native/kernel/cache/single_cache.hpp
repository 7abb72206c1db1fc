// What characters of three bytes became that stand alone, as most do in scripts of thousands of
// characters, of which a vocabulary has few words. Found by number, without hash and comparison.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/chunk_cache.hpp"
#include "huge_array.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

class SingleCache {
 public:
    using Answer = ChunkCache::Answer;

    static constexpr std::size_t kSize = 3;  // of a character, in bytes

    // Whether what is at p may be one. Reads four bytes. No two such have the same place.
    static bool may_be_at(const std::uint8_t* p) {
        std::uint32_t bytes;
        std::memcpy(&bytes, p, sizeof bytes);
        static_assert(std::endian::native == std::endian::little);
        return (bytes & 0xC0C0F0) == 0x8080E0;
    }

    // What the one at p became; no ids where that is not known.
    const Answer* find(const std::uint8_t* p) const { return &answers_.data()[place(p)]; }

    void insert(const std::uint8_t* p, const ChunkCache::Found& found) {
        if (found.count <= ChunkCache::kIdsInside) answers_.data()[place(p)].set(found);
    }

 private:
    static std::size_t place(const std::uint8_t* p) { return utf8::code_of_three(p); }

    HugeArray<Answer> answers_{0x10000};  // 1 MiB, of which untouched pages take nothing
};

}  // namespace toksmith

// What characters became that were chunks by themselves, as most are in scripts of thousands of
// characters, of which a vocabulary has few words. Found by number, without hash and comparison.
#pragma once

#include <cstddef>
#include <cstdint>

#include "cache/chunk_cache.hpp"
#include "huge_array.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

class SingleCache {
 public:
    using Answer = ChunkCache::Answer;

    // Whether the chunk has a place here: a character of three bytes, told by what is common to
    // them. No two such chunks have the same. The first byte is asked first, because sizes are
    // hard to guess.
    static bool holds(const std::uint8_t* chunk, std::size_t size) {
        if ((chunk[0] & 0xF0) != 0xE0) [[likely]]
            return false;
        return size == 3 && (chunk[1] & 0xC0) == 0x80 && (chunk[2] & 0xC0) == 0x80;
    }

    // Of what the chunk became; it has no ids where that is not known.
    const Answer* find(const std::uint8_t* chunk) const { return &answers_.data()[place(chunk)]; }

    void insert(const std::uint8_t* chunk, const ChunkCache::Found& found) {
        if (found.count <= ChunkCache::kIdsInside) answers_.data()[place(chunk)].set(found);
    }

 private:
    static std::size_t place(const std::uint8_t* chunk) { return utf8::code_of_three(chunk); }

    HugeArray<Answer> answers_{0x10000};  // 1 MiB, of which untouched pages take nothing
};

}  // namespace toksmith

// Misses of at most 31 bytes that are collected to be encoded together, and the places in the
// output where their ids go.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/id_array.hpp"
#include "cache/chunk_cache.hpp"

namespace toksmith {

struct PendingMisses {
    static constexpr std::size_t kMostChunks = 128;
    static constexpr std::size_t kMostPlaces = 512;
    static constexpr std::size_t kLongest = 31;  // the longest chunk, in bytes
    static constexpr std::size_t kBlock = 16;    // ids that are copied at once

    struct Chunk {
        ChunkKey key;
        const std::uint8_t* text;  // set if the key does not hold the bytes
        bool is_new;               // false: it may be in the overflow bucket
        EntryTag tag;              // the tag to cache with its ids
        std::uint32_t count;       // number of its ids
        std::size_t place;         // if the ids do not fit into `kept`: their start in `more`
        std::array<Id, kBlock + kLongest> kept;  // the ids start at kBlock; see block_of()

        Id* ids() { return kept.data() + kBlock; }
        const Id* ids() const { return kept.data() + kBlock; }
        std::size_t size() const { return key.size(); }
        const std::uint8_t* bytes() const { return key.is_short() ? key.bytes() : text; }
        bool is(const ChunkKey& other, const std::uint8_t* other_text) const {
            return key == other &&
                   (key.is_short() || std::memcmp(text, other_text, key.size()) == 0);
        }
    };
    struct Place {
        std::size_t place;
        std::uint32_t chunk;
        std::uint32_t bound;  // of the carried sum before the chunk
    };

    // The end of a part while misses are pending: the number of ids in the output and of pending
    // places before it.
    struct End {
        std::size_t ids, places;
    };

    std::size_t chunk_count = 0, place_count = 0;
    std::array<Chunk, kMostChunks> chunks{};
    std::array<Place, kMostPlaces> places;
    // Direct-mapped index from the top bits of a key's hash to the pending chunk with that hash. It
    // is not cleared between batches: a stale number is at least `chunk_count`, or its tag (the
    // next bits of the hash, XORed into the number) differs.
    static constexpr int kHashBits = 10, kNumberBits = 8;
    static_assert(kMostChunks <= 1 << kNumberBits);
    std::array<std::uint32_t, 1 << kHashBits> last_by_hash{};
    IdArray more;
    std::vector<End> ends;

    std::uint32_t& last_like(std::uint64_t hash) { return last_by_hash[hash >> (64 - kHashBits)]; }
    static std::uint32_t hash_tag(std::uint64_t hash) {
        return static_cast<std::uint32_t>(hash << kHashBits >> 32) >> kNumberBits << kNumberBits;
    }
    bool full() const { return chunk_count == kMostChunks || place_count == kMostPlaces; }
    void clear() {
        chunk_count = place_count = 0;
        more.clear();
        ends.clear();
    }

    const Id* ids_of(const Chunk& chunk) const {
        return chunk.count <= kLongest ? chunk.ids() : more.data() + chunk.place;
    }
    // kBlock ids that end with the ids of the chunk; the ones before them are undefined. Null if
    // the chunk has more ids.
    static const Id* block_of(const Chunk& chunk) {
        return chunk.count <= kBlock ? chunk.kept.data() + chunk.count : nullptr;
    }
    void set(Chunk& chunk, const LookupResult& found) {
        chunk.tag = found.tag;
        chunk.count = static_cast<std::uint32_t>(found.count);
        if (found.count <= kLongest) {
            std::copy_n(found.ids, found.count, chunk.ids());
        } else {
            chunk.place = more.size();
            more.append(found.ids, found.count);
        }
    }

    // The total number of ids to insert.
    std::size_t ids() const {
        std::size_t total = 0;
        for (std::size_t i = 0; i < place_count; ++i) total += chunks[places[i].chunk].count;
        return total;
    }
};

}  // namespace toksmith

// Misses of at most 31 bytes that wait until there are enough of them to be encoded together, and
// the places in the output where their ids go.
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
    static constexpr std::size_t kLongest = 31;  // bytes of a chunk
    static constexpr std::size_t kBlock = 16;    // ids that are copied at once

    struct Chunk {
        ChunkKey key;
        const std::uint8_t* text;  // if the key does not hold it
        bool is_new;               // as far as is known
        EntryTag tag;              // of its ids
        std::uint32_t
            count;  // of its ids; if they do not fit here, they are in `more`, from `place` on
        std::size_t place;
        std::array<Id, kBlock + kLongest> kept;  // after room for a block that ends with them

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
        std::uint32_t bound;  // of the carried sum before it
    };

    // The end of a part while misses wait: after so many ids of the output, and so many places.
    struct End {
        std::size_t ids, places;
    };

    std::size_t chunk_count = 0, place_count = 0;
    std::array<Chunk, kMostChunks> chunks{};
    std::array<Place, kMostPlaces> places;
    // Direct-mapped index from the top bits of a key's hash to the miss with that hash. It is not
    // cleared between batches: a stale number is at least `chunk_count`, or its tag (the next bits
    // of the hash, XORed into the number) differs.
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
    // A block of ids that ends with those of the chunk, if they are few; those before them are
    // undefined.
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

    // The number of ids that go to all places.
    std::size_t ids() const {
        std::size_t total = 0;
        for (std::size_t i = 0; i < place_count; ++i) total += chunks[places[i].chunk].count;
        return total;
    }
};

}  // namespace toksmith

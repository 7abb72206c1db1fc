// Chunks of at most 31 bytes that the first look-up did not find, until there are enough of them to
// be looked up and merged together; and the places where their ids go, among the ids that are
// there.
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
        const std::uint8_t* text;  // of a chunk that its key does not hold
        bool is_new;               // as far as was looked
        EntryTag tag;              // of its ids
        std::uint32_t count;  // of its ids; more than fit here stand in `more`, from `place` on
        std::size_t place;
        std::array<Id, kBlock + kLongest> kept;  // behind room for a block that ends where they do

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
        std::uint32_t bound;  // of the sum that is carried to it
    };

    // Where a part of text ended meanwhile: behind so many ids that were there, and so many
    // places.
    struct End {
        std::size_t ids, places;
    };

    std::size_t chunk_count = 0, place_count = 0;
    std::array<Chunk, kMostChunks> chunks{};
    std::array<Place, kMostPlaces> places;
    // The numbers of chunks, perhaps of earlier times, by the first bits of their hash: so many
    // that few come between two of the same. The next bits stand above, as a tag: what differs in
    // them is not looked at.
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
    // So many ids up to the last one, if there are no more; what stands before them is anything.
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

    // How many ids go to all places.
    std::size_t ids() const {
        std::size_t total = 0;
        for (std::size_t i = 0; i < place_count; ++i) total += chunks[places[i].chunk].count;
        return total;
    }
};

}  // namespace toksmith

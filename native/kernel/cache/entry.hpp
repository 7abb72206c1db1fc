// The ids of one chunk, packed into the 16 bytes of a slot's entry.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/id_array.hpp"

namespace toksmith {

// 24 bits of data of the model that are stored with the ids of a chunk.
using EntryTag = std::uint32_t;

struct LookupResult {
    const Id* ids = nullptr;  // null: the chunk is not cached
    std::size_t count = 0;
    EntryTag tag = 0;
};

// Stores up to three ids of 32 bits, or up to six ids of 16 bits, two in each word.
struct CacheEntry {
    static constexpr std::size_t kWords = 3;
    static constexpr std::size_t kMostIds = 6;

    Id words[kWords];
    std::uint32_t count_and_tag;

    std::size_t count() const { return count_and_tag & 0xFF; }
    EntryTag tag() const { return count_and_tag >> 8; }
    bool has_full_ids() const { return count() <= kWords; }
    void unpack16(Id* ids) const {
        for (std::size_t i = 0; i < kWords; ++i) {
            ids[2 * i] = words[i] & 0xFFFF;
            ids[2 * i + 1] = words[i] >> 16;
        }
    }
    static bool fits(const LookupResult& found) {
        if (found.count <= kWords) return true;
        if (found.count > kMostIds) return false;
        Id all = 0;
        for (std::size_t i = 0; i < kMostIds; ++i) all |= id_or_last(found, i);
        return all <= 0xFFFF;
    }
    // Stores ids for which fits() is true.
    void set(const LookupResult& found) {
        if (found.count > kWords) {
            for (std::size_t i = 0; i < kWords; ++i)
                words[i] = id_or_last(found, 2 * i) | id_or_last(found, 2 * i + 1) << 16;
        } else if (found.count > 0) {
            for (std::size_t i = 0; i < kWords; ++i) words[i] = id_or_last(found, i);
        }
        set_count_and_tag(found.count, found.tag);
    }
    void set_count_and_tag(std::size_t count, EntryTag tag) {
        count_and_tag = static_cast<std::uint32_t>(count) | tag << 8;
    }
    // If the ids do not fit: their place in the ring.
    std::uint64_t place() const { return std::uint64_t{words[1]} << 32 | words[0]; }
    void set_place(std::uint64_t place) {
        words[0] = static_cast<Id>(place);
        words[1] = static_cast<Id>(place >> 32);
    }

 private:
    // ids[i], or the last id if there are fewer. No branch: the number of ids is unpredictable.
    static Id id_or_last(const LookupResult& found, std::size_t i) {
        return found.ids[std::min(i, found.count - 1)];
    }
};

}  // namespace toksmith

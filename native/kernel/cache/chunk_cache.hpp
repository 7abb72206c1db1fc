// What each chunk became, for the chunks met lately. Bounded: a fixed table of two-slot buckets,
// and a ring for what does not fit into a slot.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "hash.hpp"
#include "huge_array.hpp"
#include "ids.hpp"

namespace toksmith {

class ChunkCache {
 public:
    static constexpr std::size_t kSlots = std::size_t{1} << 19;
    static constexpr std::size_t kArenaWords = std::size_t{1} << 21;
    // Memory of one cache when it is full, in bytes: 16 MiB of slots and 8 MiB of arena.
    static constexpr std::size_t kBytes = kSlots * 32 + kArenaWords * 4;
    // Longer chunks are rare and seldom come back; they are not kept.
    static constexpr std::size_t kLongest = 256;

    struct Key {
        std::uint64_t low;
        std::uint64_t high;  // the highest byte: the size, or kLongMark
        std::uint64_t hash;
    };

    ChunkCache() : slots_(kSlots), arena_(kArenaWords) {}

    // `end` is the end of the readable text, at or behind the chunk's.
    static Key key_of(const std::uint8_t* p, std::size_t size, const std::uint8_t* end) {
        if (size > kInline) {
            const std::uint64_t hash = hash_bytes(p, size);
            return {hash, kLongMark << 56 | size, hash};
        }
        std::uint64_t words[2] = {0, 0};
        if (end - p >= 16) {
            std::memcpy(words, p, 16);
            if (size <= 8) {
                words[0] &= ~std::uint64_t{0} >> (64 - 8 * size);
                words[1] = 0;
            } else {
                words[1] &= ~std::uint64_t{0} >> (128 - 8 * size);
            }
        } else {
            std::memcpy(words, p, size);
        }
        words[1] |= static_cast<std::uint64_t>(size) << 56;
        return {words[0], words[1], hash_words(words[0], words[1])};
    }

    // Asks the memory for what find() will look at.
    void prefetch(const Key& key) const { __builtin_prefetch(bucket_of(key)); }

    // The ids of the chunk, or nullptr. They are valid until the next insert.
    const Id* find(const Key& key, const std::uint8_t* p, std::size_t size,
                   std::size_t& count) const {
        const Slot* bucket = bucket_of(key);
        for (int way = 0; way < 2; ++way) {
            const Slot& slot = bucket[way];
            if (slot.low != key.low || slot.high != key.high) continue;
            count = slot.count;
            if (size <= kInline && count <= kIdsInside) return slot.ids;
            const std::uint64_t place = slot.place();
            if (written_ - place > kArenaWords) return nullptr;  // written over since
            const Id* stored = arena_.data() + (place & (kArenaWords - 1));
            if (size <= kInline) return stored;
            if (std::memcmp(stored, p, size) == 0) return stored + words_for(size);
        }
        return nullptr;
    }

    void insert(const Key& key, const std::uint8_t* p, std::size_t size, const Id* ids,
                std::size_t count) {
        Slot* bucket = bucket_of(key);
        bucket[1] = bucket[0];
        Slot& slot = bucket[0];
        slot.low = key.low;
        slot.high = key.high;
        slot.count = static_cast<std::uint32_t>(count);
        if (size <= kInline && count <= kIdsInside) {
            std::copy_n(ids, count, slot.ids);  // there may be none
            return;
        }
        const std::size_t text = size > kInline ? words_for(size) : 0;
        const std::size_t start = written_ & (kArenaWords - 1);
        if (start + text + count > kArenaWords) written_ += kArenaWords - start;
        slot.set_place(written_);
        Id* stored = arena_.data() + (written_ & (kArenaWords - 1));
        if (text) std::memcpy(stored, p, size);
        std::copy_n(ids, count, stored + text);
        written_ += text + count;
    }

    void clear() {
        slots_.clear();
        written_ = 0;
    }

 private:
    static constexpr std::size_t kInline = 15;  // bytes of a chunk that a slot holds
    static constexpr std::size_t kIdsInside = 3;
    static constexpr std::uint64_t kLongMark = 0xFF;

    struct Slot {
        std::uint64_t low;
        std::uint64_t high;  // 0: empty
        Id ids[kIdsInside];  // or, in the first two, the place in the arena of (text and) ids
        std::uint32_t count;

        std::uint64_t place() const { return std::uint64_t{ids[1]} << 32 | ids[0]; }
        void set_place(std::uint64_t place) {
            ids[0] = static_cast<Id>(place);
            ids[1] = static_cast<Id>(place >> 32);
        }
    };
    static_assert(sizeof(Slot) == 32);

    static std::size_t words_for(std::size_t size) { return (size + 3) / 4; }
    Slot* bucket_of(const Key& key) const { return slots_.data() + (key.hash & (kSlots - 2)); }

    HugeArray<Slot> slots_;
    // A ring: what was written longest ago is written over first. A place counts all words that
    // were ever written, so that it tells whether it still stands.
    HugeArray<Id> arena_;
    std::uint64_t written_ = 0;
};

}  // namespace toksmith

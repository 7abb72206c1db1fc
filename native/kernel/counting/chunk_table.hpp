// A hash table that counts chunks: maps each distinct chunk to its count and the position of its
// first occurrence.
//
// Short chunks (nearly all chunks) are stored in the slots themselves, so that counting one needs a
// single memory access.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/huge_page_array.hpp"
#include "base/stop.hpp"
#include "cache/chunk_key.hpp"
#include "counting/runs.hpp"

namespace toksmith {

// Each thread has its own table. Aligned so that no two of them share a cache line, or a pair of
// lines that the processor fetches together.
class alignas(128) ChunkTable {
    // The mark in `high` of a long chunk; the lower bits are its index in long_.
    static constexpr std::uint64_t kLong = std::uint64_t{0x20} << 56;
    static bool is_long(std::uint64_t high) { return (high & kLong) != 0; }

 public:
    ChunkTable() = default;
    ChunkTable(ChunkTable&&) = default;
    ChunkTable& operator=(ChunkTable&&) = default;

    // A distinct chunk. The table owns the bytes of a long chunk: they are valid until the table
    // changes, even if it is moved.
    struct Entry {
        // A short chunk and its size; or the address and the marked size of a long chunk.
        std::uint64_t low;
        std::uint64_t high;
        std::uint64_t count;
        std::uint64_t first;  // the position of its first occurrence

        bool is_long() const { return ChunkTable::is_long(high); }
        const std::uint8_t* bytes() const {
            return reinterpret_cast<const std::uint8_t*>(
                is_long() ? low : reinterpret_cast<std::uintptr_t>(&low));
        }
        std::size_t size() const { return is_long() ? high ^ kLong : high >> 56; }
        bool is_same_chunk(const Entry& other) const {
            if (low == other.low && high == other.high) return true;
            return is_long() && high == other.high &&
                   std::memcmp(bytes(), other.bytes(), size()) == 0;
        }
    };

    // In this and the next function, positions must not decrease from call to call.
    void add(const std::uint8_t* chunk, std::size_t size, std::uint64_t count, std::uint64_t first);
    // Counts adjacent chunks, of which the first starts at `begin`: each counts once, or
    // `counts[i]` times. Has interruption points. `first`: the position of `begin`; `text_end`: the
    // end of the readable text.
    void add_all(const std::uint8_t* begin, const std::uint8_t* const* ends, std::size_t chunks,
                 std::uint64_t first, const std::uint8_t* text_end,
                 const std::uint64_t* counts = nullptr);

    std::size_t size() const { return size_; }
    // Calls visit(hash, entry) for the chunks whose hash starts with the `bits` highest bits
    // `start`, in no fixed order. All tables use the same hash function.
    template <typename Visit>
    void for_each(std::uint64_t start, unsigned bits, Visit visit) const {
        const std::size_t slots = std::size_t{1} << bits_;
        // Slots are ordered by hash, except that linear probing moves entries to the next free
        // slot.
        const std::size_t begin = bits_ >= bits ? start << (bits_ - bits) : start >> (bits - bits_);
        const std::size_t end =
            bits_ >= bits ? (start + 1) << (bits_ - bits) : (start >> (bits - bits_)) + 1;
        for (std::size_t i = begin; i < end || (i < end + slots && is_used(i)); ++i) {
            const Slot& slot = slots_.data()[i & (slots - 1)];
            if (slot.high == 0) continue;
            const std::uint64_t hash = hash_of(slot);
            if (bits == 0 || hash >> (64 - bits) == start) visit(hash, entry_of(slot));
            if (i + 1 == begin + slots) break;
        }
    }
    // All chunks, in no fixed order. The table owns their bytes.
    std::vector<Record> records() const;
    // An estimate of the peak memory in bytes when the table next grows, or is converted to
    // records.
    std::size_t memory_when_grown() const;

 private:
    struct Slot {
        std::uint64_t low;   // a short chunk and its size; or the hash of a long one
        std::uint64_t high;  // 0: an empty slot
        std::uint64_t count;
        std::uint64_t first;
    };
    struct Long {
        std::uint64_t offset;
        std::uint64_t size;
    };
    using Key = ChunkKey;
    static constexpr unsigned kFirstBits = 10;
    static std::uint64_t hash_of(const Key& key) {
        return key.is_short() ? hash_words(key.low, key.high) : key.low;
    }
    static std::uint64_t hash_of(const Slot& slot) {
        return is_long(slot.high) ? slot.low : hash_words(slot.low, slot.high);
    }
    Entry entry_of(const Slot& slot) const {
        if (!is_long(slot.high)) return {slot.low, slot.high, slot.count, slot.first};
        const Long& found = long_[slot.high ^ kLong];
        const auto place = reinterpret_cast<std::uintptr_t>(long_bytes_.data() + found.offset);
        return {place, kLong | found.size, slot.count, slot.first};
    }
    std::size_t place_of(std::uint64_t hash) const { return hash >> (64 - bits_); }
    bool is_used(std::size_t i) const {
        return slots_.data()[i & ((std::size_t{1} << bits_) - 1)].high != 0;
    }
    template <bool kCounts>
    void add_batches(const std::uint8_t* begin, const std::uint8_t* const* ends, std::size_t chunks,
                     std::uint64_t first, const std::uint8_t* text_end,
                     const std::uint64_t* counts);
    void add(const Key& key, std::uint64_t hash, const std::uint8_t* chunk, std::size_t size,
             std::uint64_t count, std::uint64_t first);
    void add_long(std::uint64_t hash, const std::uint8_t* chunk, std::size_t size,
                  std::uint64_t count, std::uint64_t first);
    void append_long(const std::uint8_t* chunk, std::size_t size);
    void insert(std::size_t place, const Slot& slot);
    // The first free slot for a hash, in a table of 2^bits slots.
    static std::size_t free_place(const HugePageArray<Slot>& slots, unsigned bits,
                                  std::uint64_t hash);
    void grow();

    unsigned bits_ = kFirstBits;
    HugePageArray<Slot> slots_{std::size_t{1} << kFirstBits};
    std::size_t size_ = 0;
    std::vector<Long> long_;  // chunks that do not fit into a slot
    std::vector<std::uint8_t> long_bytes_;
    InterruptionPoints<64> points_;
};

// A batch of chunks that are counted with one call of add_all().
struct CountingBatch {
    std::vector<std::uint8_t> text;  // all chunks, concatenated
    std::vector<std::size_t> ends;
    std::vector<std::uint64_t> counts;

    // Counts the chunks and clears the batch. `first`: the position of the first chunk.
    void count(ChunkTable& table, std::uint64_t first) {
        pointers_.clear();
        for (const std::size_t end : ends) pointers_.push_back(text.data() + end);
        table.add_all(text.data(), pointers_.data(), ends.size(), first, text.data() + text.size(),
                      counts.data());
        text.clear();
        ends.clear();
        counts.clear();
    }

 private:
    std::vector<const std::uint8_t*> pointers_;
};

}  // namespace toksmith

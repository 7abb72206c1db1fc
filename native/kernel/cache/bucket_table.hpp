// The hash table of the chunk cache, for one thread or for several at once.
//
// Each key hashes to one home bucket of 64 bytes with two slots. Four home buckets share an
// overflow bucket. Slots are filled in order of arrival, so frequent chunks, which arrive early,
// are almost always found in their home bucket. Overflow buckets lie in a separate array, to
// keep the home buckets dense.
//
// With several threads, slots are write-once (free, then claimed, then published by the release
// store of the key's high word), so readers need no lock. A single thread also moves and evicts
// entries.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "base/huge_page_array.hpp"
#include "base/thread_sanitizer.hpp"
#include "cache/chunk_key.hpp"
#include "cache/entry.hpp"
#include "simd/pairs.hpp"

namespace toksmith {

class BucketTable {
 public:
    using Key = ChunkKey;

    static constexpr std::size_t kSlots = 2;  // of a bucket
    struct alignas(64) Bucket {
        Key keys[kSlots];
        CacheEntry entries[kSlots];
    };
    static_assert(sizeof(Bucket) == 64);
    static constexpr Bucket kNone{};            // an empty bucket
    static constexpr std::size_t kSharing = 4;  // home buckets that share an overflow bucket

    // `buckets`: the initial size; `most`: the maximum size; both are powers of two. Memory after
    // the buckets in use is not touched. `small`: how many buckets lie on small pages, because the
    // table may never have more.
    BucketTable(std::size_t buckets, std::size_t most, std::size_t small)
        : most_(most),
          home_(most, small),
          overflow_(most / kSharing, small / kSharing),
          size_(buckets),
          places_(buckets) {}

    std::size_t size() const { return size_; }
    std::size_t most() const { return most_; }

    // Computes the home bucket of a key. Invalid once the table grows.
    struct Places {
        static constexpr std::uint64_t kMask = ~std::uint64_t{sizeof(Bucket) - 1};
        int shift;  // right shift of a hash; together with kMask, it gives an offset in bytes

        explicit Places(std::size_t buckets) : shift(64 - 6 - std::countr_zero(buckets)) {}
        std::size_t bytes(const Key& key) const { return key.hash() >> shift & kMask; }
        static_assert(sizeof(Bucket) == 1 << 6);
    };
    struct HomeBuckets {
        const std::byte* begin;
        Places places;
        // Prefetches the bucket that find() reads. For keys whose low word is 0 it returns an empty
        // bucket, because a claimed slot also has a low word of 0 until it is published.
        [[gnu::always_inline]] const Bucket* prefetch(const Key& key) const {
            if (key.low == 0) [[unlikely]]
                return &kNone;
            const std::byte* bucket = begin + places.bytes(key);
            __builtin_prefetch(bucket);
            return reinterpret_cast<const Bucket*>(bucket);
        }
    };
    HomeBuckets home_buckets() const {
        return {reinterpret_cast<const std::byte*>(home_.data()), places_};
    }
    // prefetch_home() prefetches the bucket that fill() usually writes to, and prefetch_overflow()
    // the overflow bucket that search() reads.
    void prefetch_home(const Key& key) const { __builtin_prefetch(home_bucket_of(key), 1); }
    void prefetch_overflow(const Key& key) const { __builtin_prefetch(overflow_bucket_of(key)); }

    // The entry of a short chunk with few ids, if it is in its home bucket; else null. `place_of`
    // is pairs::place_of or its vector form, which has no branch: the slot is unpredictable.
    template <typename PlaceOf>
    [[gnu::always_inline]] static const CacheEntry* find(const Bucket* bucket, const Key& key,
                                                         [[maybe_unused]] PlaceOf place_of) {
#if defined(TOKSMITH_THREAD_SANITIZER)  // does not know that a vector reads a word atomically
        const std::size_t place = pairs::place_of(&bucket->keys[0].low, &key.low);
#else
        const std::size_t place = place_of(&bucket->keys[0].low, &key.low);
#endif
        if (place > sizeof(Key)) return nullptr;
        static_assert(sizeof(CacheEntry) == sizeof(Key));
        const auto* entries = reinterpret_cast<const std::byte*>(bucket->entries);
        return reinterpret_cast<const CacheEntry*>(entries + place);
    }

    struct HomeProbe {
        bool is_there, has_room;
    };
    // Searches the home bucket. If that has a free slot, the overflow bucket does not have the key.
    // Without a branch: how full a bucket is cannot be predicted.
    [[gnu::always_inline]] HomeProbe probe_home(const Key& key) const {
        const Bucket& bucket = *home_bucket_of(key);
        std::uint64_t last = 0;
        bool is_there = false;
        for (const Key& slot : bucket.keys) {
            last = last_word(slot);
            is_there |= holds(slot, last, key);
        }
        return {is_there, last == 0};
    }
    enum class End { kThere, kFree, kFull };
    struct Search {
        End end;
        Bucket* bucket;  // the bucket where the search ended
        std::size_t slot;

        const CacheEntry& entry() const { return bucket->entries[slot]; }
        // Whether the entry holds the place of the ids in the ring, not the ids. The read is
        // atomic: a thread that saw the slot free may still try to claim it.
        bool is_indirect() const { return (last_word(bucket->keys[slot]) & kIndirectMark) != 0; }
    };
    [[gnu::always_inline]] Search search(const Key& key) const {
        const Search found = search(key, home_bucket_of(key));
        return found.end == End::kFull ? search(key, overflow_bucket_of(key)) : found;
    }
    // The result of fill().
    enum class Kept { kAdded, kPresent, kFull };

    // Adds a key; `write(entry)` writes its entry. `alone`: no other thread uses the table. Then an
    // entry is evicted if both buckets are full, so adding never fails.
    template <typename Write>
    [[gnu::always_inline]] Kept fill(const Key& key, bool indirect, bool alone,
                                     const Write& write) {
        for (;;) {
            Search place = search(key);
            if (alone) {
                if (place.end == End::kFull) place.slot = kSlots - 1;  // of the overflow bucket
            } else {
                if (place.end != End::kFree) return not_added(place.end);
                if (!try_claim(place.bucket->keys[place.slot])) continue;
            }
            Key& slot = place.bucket->keys[place.slot];
            write(place.bucket->entries[place.slot]);
            std::atomic_ref(slot.low).store(key.low, std::memory_order_relaxed);
            std::atomic_ref(slot.high).store(indirect ? key.high | kIndirectMark : key.high,
                                             std::memory_order_release);
            return Kept::kAdded;
        }
    }
    static Kept not_added(End end) { return end == End::kThere ? Kept::kPresent : Kept::kFull; }

    // Populates the memory for a table of `buckets` buckets.
    void populate(std::size_t buckets) const {
        home_.populate(size_, buckets);
        overflow_.populate(size_ / kSharing, buckets / kSharing);
    }
    // Grows to `buckets` buckets, while no other thread uses the table. The entries of a bucket
    // move to adjacent buckets, from the last bucket to the first, so none is overwritten before it
    // has moved.
    void grow(std::size_t buckets) {
        const std::size_t before = size_;
        use(buckets);
        const int doublings = std::countr_zero(buckets) - std::countr_zero(before);
        constexpr std::size_t kAhead = 8;
        for (std::size_t i = before; i-- > 0;) {
            for (const Key& key : home_.data()[i - std::min(i, kAhead)].keys)
                __builtin_prefetch(home_bucket_of(without_mark(key)), 1);
            const Bucket bucket = std::exchange(home_.data()[i], {});
            // Without a branch: empty slots are moved, too.
            const std::size_t one = part_of(bucket.keys[0], doublings);
            const std::size_t other = part_of(bucket.keys[1], doublings);
            Bucket* const parts = home_.data() + (i << doublings);
            parts[one].keys[0] = bucket.keys[0];
            parts[one].entries[0] = bucket.entries[0];
            parts[other].keys[one == other] = bucket.keys[1];
            parts[other].entries[one == other] = bucket.entries[1];
        }
        for (std::size_t i = before / kSharing; i-- > 0;) {
            const Bucket bucket = std::exchange(overflow_.data()[i], {});
            for (std::size_t slot = 0; slot < kSlots && bucket.keys[slot].high != 0; ++slot) {
                const Key& key = bucket.keys[slot];  // its new overflow bucket has a free slot
                fill(without_mark(key), key.high & kIndirectMark, true,
                     [&](CacheEntry& entry) { entry = bucket.entries[slot]; });
            }
        }
    }
    // Only while no other thread uses the table.
    void clear(std::size_t buckets) {
        home_.clear();
        overflow_.clear();
        use(buckets);
    }

 private:
    // Set in published slots only, not in keys that are looked up.
    static constexpr std::uint64_t kIndirectMark = std::uint64_t{0x40} << 56;
    // The high word of a slot that a thread is about to fill. No key has this high word.
    static constexpr std::uint64_t kClaimed = std::uint64_t{0x80} << 56;

    static Key without_mark(const Key& key) { return {key.low, key.high & ~kIndirectMark}; }
    // The high word is written last and read first, so once it is there the whole slot is.
    static std::uint64_t last_word(const Key& slot) {
        return std::atomic_ref(const_cast<std::uint64_t&>(slot.high))
            .load(std::memory_order_acquire);
    }
    // The low word of a slot that another thread may be filling.
    static std::uint64_t first_word(const Key& slot) {
        return std::atomic_ref(const_cast<std::uint64_t&>(slot.low))
            .load(std::memory_order_relaxed);
    }
    static bool holds(const Key& slot, const Key& key) { return holds(slot, last_word(slot), key); }
    static bool holds(const Key& slot, std::uint64_t last_word, const Key& key) {
        return (((last_word & ~kIndirectMark) ^ key.high) | (first_word(slot) ^ key.low)) == 0;
    }
    // Returns whether this thread may fill the slot.
    static bool try_claim(Key& slot) {
        std::uint64_t free = 0;
        return std::atomic_ref(slot.high).compare_exchange_strong(free, kClaimed,
                                                                  std::memory_order_relaxed);
    }

    Bucket* home_bucket_of(const Key& key) const { return bucket_at(home_, places_.bytes(key)); }
    Bucket* overflow_bucket_of(const Key& key) const {
        return bucket_at(overflow_, places_.bytes(key) / kSharing & ~(sizeof(Bucket) - 1));
    }
    [[gnu::always_inline]] static Search search(const Key& key, Bucket* bucket) {
        const Key &one = bucket->keys[0], &other = bucket->keys[1];
        const std::uint64_t last = last_word(one), other_last = last_word(other);
        const bool is_one = holds(one, last, key), is_other = holds(other, other_last, key);
        if (is_one | is_other) return {End::kThere, bucket, std::size_t{is_other}};
        const bool is_free = (last == 0) | (other_last == 0);
        return {is_free ? End::kFree : End::kFull, bucket, std::size_t{last != 0}};
    }
    static Bucket* bucket_at(const HugePageArray<Bucket>& buckets, std::size_t bytes) {
        return reinterpret_cast<Bucket*>(reinterpret_cast<std::byte*>(buckets.data()) + bytes);
    }
    void use(std::size_t buckets) {
        size_ = buckets;
        places_ = Places(buckets);
    }
    // The index of the adjacent bucket to which a key moves when the table grows.
    std::size_t part_of(const Key& key, int doublings) const {
        const std::size_t bucket = places_.bytes(without_mark(key)) / sizeof(Bucket);
        return bucket & ((std::size_t{1} << doublings) - 1);
    }

    std::size_t most_;
    HugePageArray<Bucket> home_, overflow_;
    std::size_t size_;  // home buckets in use
    Places places_;
};

}  // namespace toksmith

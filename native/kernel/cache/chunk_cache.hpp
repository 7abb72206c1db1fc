// The cache from chunks to their ids, shared by all threads of a call. Its memory is bounded: a
// table that grows up to a limit, and a ring buffer for texts and ids that do not fit into a slot.
//
// Several threads read it and add to it without locks. It grows between calls; with one thread, it
// also grows between two batches of a text.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/id_array.hpp"
#include "cache/bucket_table.hpp"
#include "cache/entry.hpp"
#include "cache/ring_arena.hpp"

namespace toksmith {

// Estimates the number of distinct chunks of a text by Heaps' law: new chunks get rarer as the text
// goes on.
class DistinctEstimate {
 public:
    // `bytes`: the size of the text; `known`: the number of chunks in the cache before it.
    explicit DistinctEstimate(std::size_t bytes = 0, std::size_t known = 0)
        : bytes_(bytes), known_(known) {}

    // The estimate before the text is read.
    std::size_t in_all() const { return known_ + at_most(power(static_cast<double>(bytes_))); }
    // The estimate after `read` bytes, when the cache has `met` chunks.
    std::size_t in_all(std::size_t met, std::size_t read) const {
        if (read == 0 || read >= bytes_) return met;
        const double times = static_cast<double>(bytes_) / static_cast<double>(read);
        return known_ + at_most(static_cast<double>(met - known_) * power(times));
    }

 private:
    // An exponent of 2/3: that of English, code and other languages lies between 0.4 and 0.75.
    static double power(double x) { return std::cbrt(x) * std::cbrt(x); }
    static std::size_t at_most(double count) {
        constexpr double kMost = 1e12;
        return static_cast<std::size_t>(count < kMost ? count : kMost);
    }

    std::size_t bytes_, known_;
};

class ChunkCache {
 public:
    using Key = ChunkKey;

    static constexpr std::size_t kBytes = std::size_t{48} << 20;  // the default maximum size
    // Longer chunks are not cached: they are rare and seldom repeat.
    static constexpr std::size_t kLongest = 256;
    static constexpr std::size_t kMostIds = 255;  // chunks with more ids are not cached

    static constexpr std::size_t kFewestBuckets = std::size_t{1} << 12;
    static constexpr std::size_t kWordsPerBucket = 4;  // size of the ring
    static constexpr std::size_t kBytesPerBucket =
        sizeof(BucketTable::Bucket) + sizeof(BucketTable::Bucket) / BucketTable::kSharing +
        kWordsPerBucket * sizeof(Id);

    // Uses at most `bytes` bytes of memory, but at least 384 KiB. `text`: the size in bytes of the
    // first text. If it is short, there may be no other text, so the start of each array lies on
    // small pages.
    explicit ChunkCache(std::size_t bytes = kBytes, std::size_t text = 0)
        : buckets_(
              kFewestBuckets,
              std::clamp(std::bit_floor(bytes / kBytesPerBucket), kFewestBuckets, kMostBuckets),
              small_buckets(text)),
          arena_(buckets_.most() * kWordsPerBucket, small_buckets(text) * kWordsPerBucket) {}

    // Call it before a text of `bytes` bytes is encoded by `threads` threads, while no thread uses
    // the cache.
    void begin(std::size_t bytes, std::size_t threads) {
        alone_ = threads == 1;
        wants_room_ = false;
        if (rejected_ > kMostRejected * buckets_.size()) clear();
        distinct_ = DistinctEstimate(bytes, added_);
        const std::size_t room = alone_ ? std::bit_floor(std::min(bytes / kBytesPerChunk, kMany))
                                        : std::bit_ceil(DistinctEstimate(bytes).in_all());
        const std::size_t twice = is_dense() ? 2 * buckets_.size() : 0;
        const std::size_t buckets = std::min(std::max(room, twice), buckets_.most());
        if (buckets > buckets_.size()) grow(buckets);
    }

    // The number of home buckets in use.
    std::size_t buckets() const { return buckets_.size(); }

    class Handle;

 private:
    static constexpr std::size_t kMostBuckets = std::size_t{1} << 29;
    static constexpr std::size_t kMany = std::size_t{1} << 13;  // buckets
    // The minimum number of bytes of text per new chunk.
    static constexpr std::size_t kBytesPerChunk = 16;
    // The table is cleared after this number of rejected chunks per bucket.
    static constexpr std::size_t kMostRejected = 4;
    // With one thread, the table grows at least by the factor kGrowth; but not if the rest of the
    // text is expected to need less than size / kLittle additional buckets.
    static constexpr std::size_t kGrowth = 4, kLittle = 4;

    static std::size_t small_buckets(std::size_t text) {
        return text < kFewestBuckets * kBytesPerChunk ? kFewestBuckets : 0;
    }

    // Whether many chunks are in overflow buckets.
    bool is_dense() const { return added_ > buckets_.size() / 4 * 3; }
    bool may_grow() const { return added_ > buckets_.size() && buckets_.size() < buckets_.most(); }
    // Makes room for the rest of the text, of which `read` bytes have been encoded.
    void make_room(std::size_t read) {
        wants_room_ = false;
        const std::size_t buckets = buckets_.size(), expected = distinct_.in_all(added_, read);
        if (expected > added_ && expected < buckets + buckets / kLittle) return;
        const std::size_t room = buckets < kMany ? 0 : std::bit_ceil(expected);
        grow(std::clamp(room, std::min(kGrowth * buckets, buckets_.most()), buckets_.most()));
    }
    void grow(std::size_t buckets) {
        buckets_.populate(buckets);
        buckets_.grow(buckets);
        rejected_ = 0;
    }
    void clear() {
        buckets_.clear(kFewestBuckets);
        arena_.clear();
        added_ = rejected_ = 0;
    }

    // Read by all threads, and seldom written.
    BucketTable buckets_;
    RingArena arena_;
    bool alone_ = true;
    bool wants_room_ = false;  // with one thread: the table should grow
    DistinctEstimate distinct_;
    // Updated by all threads, but seldom; on a separate cache line.
    alignas(64) std::atomic<std::size_t> added_{0}, rejected_{0};
};

// A thread's view of the cache. Use it only while a Session exists.
class ChunkCache::Handle {
 public:
    explicit Handle(ChunkCache& cache) : cache_(cache) {}

    class Session {
     public:
        explicit Session(Handle& handle) : handle_(handle) { handle_.join(); }
        ~Session() { handle_.leave(); }
        Session(const Session&) = delete;
        Session& operator=(const Session&) = delete;

     private:
        Handle& handle_;
    };

    BucketTable::HomeBuckets home_buckets() const { return home_buckets_; }
    void prefetch_home(const Key& key) const { cache_.buckets_.prefetch_home(key); }
    void prefetch_overflow(const Key& key) const { cache_.buckets_.prefetch_overflow(key); }
    BucketTable::HomeProbe probe_home(const Key& key) const {
        return cache_.buckets_.probe_home(key);
    }

    // Looks up any chunk, in both buckets and in the ring. Returns null ids if it is not cached.
    // The ids are valid until the next look_up() or report_progress().
    LookupResult look_up(const Key& key, const std::uint8_t* p, std::size_t size) {
        const BucketTable::Search search = cache_.buckets_.search(key);
        if (search.end != BucketTable::End::kThere) return {};
        const CacheEntry& entry = search.entry();
        if (!search.is_indirect()) {
            if (entry.has_full_ids()) return {entry.words, entry.count(), entry.tag()};
            entry.unpack16(unpacked_.data());
            return {unpacked_.data(), entry.count(), entry.tag()};
        }
        if (cache_.arena_.is_overwritten(entry.place())) return {};
        const Id* stored = cache_.arena_.at(entry.place());
        if (size > Key::kInline) {
            if (std::memcmp(stored, p, size) != 0) return {};
            stored += text_words(size);
        }
        return {stored, entry.count(), entry.tag()};
    }

    // Caches the ids of a chunk, unless it has too many bytes or ids, or there is no free slot.
    void insert(const Key& key, const std::uint8_t* p, std::size_t size,
                const LookupResult& found) {
        if (size > kLongest || found.count > kMostIds) return;
        switch (keep(key, p, size, found)) {
            case Kept::kAdded:
                ++added_;
                break;
            case Kept::kPresent:  // another thread was faster
                return;
            case Kept::kFull:
                ++rejected_;
                break;
        }
        if (added_ + rejected_ < kOften) return;
        flush_counters();
        if (cache_.alone_) cache_.wants_room_ = cache_.may_grow();
    }
    // Adds to the number of bytes of the text that are encoded; call it between two batches. The
    // table may grow, which invalidates the results of earlier look-ups.
    void report_progress(std::size_t bytes) {
        read_ += bytes;
        if (!cache_.wants_room_) [[likely]]
            return;
        cache_.make_room(read_);
        home_buckets_ = cache_.buckets_.home_buckets();
    }

 private:
    static constexpr std::size_t kOften = 64;

    void join() {
        home_buckets_ = cache_.buckets_.home_buckets();
        read_ = 0;
    }
    void leave() { flush_counters(); }
    void flush_counters() {
        add_to(cache_.added_, added_);
        add_to(cache_.rejected_, rejected_);
    }
    void add_to(std::atomic<std::size_t>& sum, std::size_t& more) const {
        constexpr auto kRelaxed = std::memory_order_relaxed;
        if (cache_.alone_) {
            sum.store(sum.load(kRelaxed) + more, kRelaxed);
        } else {
            sum.fetch_add(more, kRelaxed);
        }
        more = 0;
    }

    static std::size_t text_words(std::size_t size) { return (size + sizeof(Id) - 1) / sizeof(Id); }
    using Kept = BucketTable::Kept;
    Kept keep(const Key& key, const std::uint8_t* p, std::size_t size, const LookupResult& found) {
        const bool alone = cache_.alone_;
        if (size <= Key::kInline && CacheEntry::fits(found)) {
            return cache_.buckets_.fill(key, false, alone,
                                        [&](CacheEntry& entry) { entry.set(found); });
        }
        if (!alone) {
            const BucketTable::End end = cache_.buckets_.search(key).end;
            if (end != BucketTable::End::kFree) return BucketTable::not_added(end);
        }
        const std::size_t text = size > Key::kInline ? text_words(size) : 0;
        const auto place = cache_.arena_.allocate(text + found.count, alone);
        if (!place) return Kept::kFull;
        Id* const stored = cache_.arena_.at(*place);
        if (text) std::memcpy(stored, p, size);
        std::copy_n(found.ids, found.count, stored + text);
        return cache_.buckets_.fill(key, true, alone, [&](CacheEntry& entry) {
            entry.set_count_and_tag(found.count, found.tag);
            entry.set_place(*place);
        });
    }

    ChunkCache& cache_;
    BucketTable::HomeBuckets home_buckets_ = cache_.buckets_.home_buckets();
    std::size_t added_ = 0, rejected_ = 0;           // not yet added to those of the cache
    std::size_t read_ = 0;                           // bytes of the text encoded so far
    std::array<Id, CacheEntry::kMostIds> unpacked_;  // the ids of the last look-up
};

}  // namespace toksmith

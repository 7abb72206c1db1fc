// The chunk cache.
#include "kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Cache {
    ChunkCache cache;

    static ChunkCache::Key key(const Bytes& chunk) {
        return ChunkCache::key_of(chunk.data(), chunk.size(), chunk.data() + chunk.size());
    }
    void insert(const Bytes& chunk, const std::vector<Id>& ids) {
        cache.insert(key(chunk), chunk.data(), chunk.size(), ids.data(), ids.size());
    }
    bool holds(const Bytes& chunk, const std::vector<Id>& ids) const {
        std::size_t count = 0;
        const Id* found = cache.find(key(chunk), chunk.data(), chunk.size(), count);
        return found && std::vector<Id>(found, found + count) == ids;
    }
    bool misses(const Bytes& chunk) const {
        std::size_t count = 0;
        return !cache.find(key(chunk), chunk.data(), chunk.size(), count);
    }
};

}  // namespace

TEST(cache_finds_what_was_inserted) {
    Cache cache;
    const std::size_t sizes[] = {1, 7, 8, 9, 15, 16, 17, 255, 256};
    const auto ids = [](std::size_t size, std::size_t count) {
        return std::vector<Id>(count, static_cast<Id>(size * 1000 + count));
    };
    for (const std::size_t size : sizes) {
        for (std::size_t count = 1; count <= std::min<std::size_t>(size, 5); ++count) {
            const Bytes chunk(size, static_cast<std::uint8_t>('a' + count));
            CHECK(cache.misses(chunk));
            cache.insert(chunk, ids(size, count));
        }
    }
    for (const std::size_t size : sizes) {
        for (std::size_t count = 1; count <= std::min<std::size_t>(size, 5); ++count) {
            CHECK(
                cache.holds(Bytes(size, static_cast<std::uint8_t>('a' + count)), ids(size, count)));
        }
    }
    cache.cache.clear();
    CHECK(cache.misses(Bytes(1, 'b')));
}

TEST(cache_key_is_of_the_chunk_alone) {
    for (std::size_t size = 1; size < 40; ++size) {
        const Bytes alone(size, 'x');
        Bytes inside(size + 20, '\xFF');
        std::fill_n(inside.begin(), size, 'x');
        const auto a = Cache::key(alone);
        const auto b = ChunkCache::key_of(inside.data(), size, inside.data() + inside.size());
        CHECK(a.low == b.low && a.high == b.high && a.hash == b.hash);
        const auto longer = Cache::key(Bytes(size + 1, 'x'));
        CHECK(a.low != longer.low || a.high != longer.high);
    }
    const auto zeros = Cache::key(Bytes(3, 0)), more_zeros = Cache::key(Bytes(4, 0));
    CHECK(zeros.high != more_zeros.high);
}

TEST(cache_compares_long_chunks_by_their_bytes) {
    Cache cache;
    const Bytes chunk(40, 'x'), other(40, 'y');
    cache.insert(chunk, {1});
    std::size_t count = 0;
    CHECK(!cache.cache.find(Cache::key(chunk), other.data(), other.size(), count));
}

TEST(cache_evicts_the_older_of_a_bucket) {
    std::map<std::uint64_t, std::vector<Bytes>> buckets;
    for (std::uint64_t number = 0;; ++number) {
        const Bytes chunk = bytes_of(std::to_string(number));
        auto& bucket = buckets[Cache::key(chunk).hash & (ChunkCache::kSlots - 2)];
        bucket.push_back(chunk);
        if (bucket.size() < 3) continue;
        Cache cache;
        for (Id id = 0; id < 3; ++id) cache.insert(bucket[id], {id});
        CHECK(cache.misses(bucket[0]));
        CHECK(cache.holds(bucket[1], {1}) && cache.holds(bucket[2], {2}));
        return;
    }
}

TEST(cache_writes_over_what_its_arena_has_held_longest) {
    Cache cache;
    const auto chunk = [](std::size_t i) {
        Bytes bytes(ChunkCache::kLongest, 'x');
        bytes[0] = static_cast<std::uint8_t>(i), bytes[1] = static_cast<std::uint8_t>(i >> 8);
        return bytes;
    };
    const auto ids = [](std::size_t i) { return std::vector<Id>(256, static_cast<Id>(i)); };
    const std::size_t words = ChunkCache::kLongest / 4 + 256;
    const std::size_t room = ChunkCache::kArenaWords / words;
    const Bytes small(3, 's');
    cache.insert(small, {7});
    // Some are pushed out of their bucket by younger ones; the ring keeps all others.
    const auto held = [&](std::size_t first, std::size_t last) {
        std::size_t count = 0;
        for (std::size_t i = first; i < last; ++i) count += cache.holds(chunk(i), ids(i));
        return count;
    };
    for (std::size_t i = 0; i < 3 * room; ++i) {
        cache.insert(chunk(i), ids(i));
        CHECK(cache.holds(chunk(i), ids(i)));
        if (i >= room) CHECK(cache.misses(chunk(i - room)));
    }
    CHECK(held(2 * room + 1, 3 * room) >= room - room / 100);
    CHECK(held(0, 2 * room) == 0);
    CHECK(cache.holds(small, {7}));
}

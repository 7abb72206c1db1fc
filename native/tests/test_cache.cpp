// The chunk cache and the character cache.
#include <atomic>
#include <latch>
#include <optional>
#include <thread>

#include "cache/char_cache.hpp"
#include "cache/chunk_cache.hpp"
#include "kit.hpp"
#include "simd/pairs.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

ChunkKey key_of(const Bytes& chunk) {
    return ChunkKey::of(chunk.data(), chunk.size(), chunk.data() + chunk.size());
}

// The cache as one thread uses it.
struct Thread {
    ChunkCache::Handle use;

    explicit Thread(ChunkCache& cache) : use(cache) {}
    // Also reports one byte of text.
    void insert(const Bytes& chunk, const std::vector<Id>& ids, EntryTag note = 0) {
        use.insert(key_of(chunk), chunk.data(), chunk.size(), {ids.data(), ids.size(), note});
        use.report_progress(1);
    }
    LookupResult find(const Bytes& chunk) {
        return use.look_up(key_of(chunk), chunk.data(), chunk.size());
    }
    bool holds(const Bytes& chunk, const std::vector<Id>& ids) {
        const LookupResult found = find(chunk);
        return found.ids && std::vector<Id>(found.ids, found.ids + found.count) == ids;
    }
    bool misses(const Bytes& chunk) { return !find(chunk).ids; }
    std::size_t buckets() const { return std::size_t{1} << (58 - use.home_buckets().places.shift); }
    // The entry of a chunk in its home bucket, or null.
    const CacheEntry* near(const Bytes& chunk) const {
        const ChunkKey key = key_of(chunk);
        return BucketTable::find(use.home_buckets().prefetch(key), key, pairs::place_of);
    }
};

// A cache with a single thread.
struct Cache : ChunkCache, Thread {
    using Thread::buckets;
    std::optional<ChunkCache::Handle::Session> turn;

    explicit Cache(std::size_t bytes = kBytes)
        : ChunkCache(bytes), Thread(static_cast<ChunkCache&>(*this)) {
        turn.emplace(use);
    }
    // Starts a text of `bytes` bytes.
    void begin(std::size_t bytes) {
        turn.reset();
        ChunkCache::begin(bytes, 1);
        turn.emplace(use);
    }
};

// `count` chunks of the same home bucket.
std::vector<Bytes> of_one_bucket(std::size_t count) {
    std::map<const BucketTable::Bucket*, std::vector<Bytes>> by_bucket;
    const Cache empty;
    for (std::uint64_t number = 0;; ++number) {
        const Bytes chunk = bytes_of(std::to_string(number));
        std::vector<Bytes>& chunks = by_bucket[empty.use.home_buckets().prefetch(key_of(chunk))];
        chunks.push_back(chunk);
        if (chunks.size() == count) return chunks;
    }
}

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
}

TEST(cache_stores_few_ids_in_slots) {
    Random random{3};
    for (std::size_t count = 0; count < 9; ++count) {
        for (int round = 0; round < 50; ++round) {
            std::vector<Id> ids(count);
            for (Id& id : ids) id = static_cast<Id>(random.below(0x10000));
            if (count > 0) ids[0] = round % 2 ? 0xFFFF : 0;
            const bool large = count > 0 && round % 5 == 0;
            if (large) ids[random.below(count)] = round % 10 ? 0x10000 : 0xFFFFFFFF;
            const bool fits = count <= 3 || (count <= CacheEntry::kMostIds && !large);
            CHECK(CacheEntry::fits({ids.data(), count, 77}) == fits);
            Cache cache;
            const Bytes chunk = bytes_of("a chunk");
            cache.insert(chunk, ids);
            CHECK(cache.holds(chunk, ids));
            if (!fits) continue;
            CacheEntry entry{};
            entry.set({ids.data(), count, 77});
            CHECK(entry.count() == count && entry.tag() == 77);
            CHECK(entry.has_full_ids() == (count <= 3));
            std::vector<Id> found(entry.words, entry.words + std::min<std::size_t>(count, 3));
            if (!entry.has_full_ids()) {
                found.resize(CacheEntry::kMostIds);
                entry.unpack16(found.data());
                found.resize(count);
            }
            CHECK(found == ids);
        }
    }
}

TEST(cache_key_is_of_the_chunk_alone) {
    for (std::size_t size = 1; size < 40; ++size) {
        const Bytes alone(size, 'x');
        Bytes inside(size + 20, '\xFF');
        std::fill_n(inside.begin(), size, 'x');
        const auto a = key_of(alone);
        const auto b = ChunkKey::of(inside.data(), size, inside.data() + inside.size());
        CHECK(a == b);
        const auto longer = key_of(Bytes(size + 1, 'x'));
        CHECK(a.low != longer.low || a.high != longer.high);
    }
    const auto zeros = key_of(Bytes(3, 0)), more_zeros = key_of(Bytes(4, 0));
    CHECK(zeros.high != more_zeros.high);
}

TEST(cache_finds_chunks_of_zeros) {
    Cache cache;
    for (std::size_t size = 1; size < 20; ++size) cache.insert(Bytes(size, 0), {Id(size)});
    for (std::size_t size = 1; size < 20; ++size) {
        CHECK(cache.holds(Bytes(size, 0), {Id(size)}));
        CHECK(!cache.near(Bytes(size, 0)));  // looked up by the slow path only
    }
}

TEST(cache_compares_long_chunks_by_their_bytes) {
    Cache cache;
    const Bytes chunk(40, 'x'), other(40, 'y');
    cache.insert(chunk, {1});
    CHECK(!cache.use.look_up(key_of(chunk), other.data(), other.size()).ids);
}

TEST(cache_keeps_the_first_and_the_last_of_a_full_bucket) {
    const std::vector<Bytes> chunks = of_one_bucket(40);
    Cache cache;
    for (Id id = 0; id < 40; ++id) {
        cache.insert(chunks[id], {id});
        CHECK((cache.near(chunks[id]) != nullptr) == (id < 2));
        for (Id before = 0; before <= id; ++before) {
            if (before < 3 || before == id) {
                CHECK(cache.holds(chunks[before], {before}));
            } else {
                CHECK(cache.misses(chunks[before]));
            }
        }
    }
}

TEST(cache_overwrites_the_oldest_words_of_its_ring) {
    constexpr std::size_t kBytes = std::size_t{3} << 20;
    Cache cache(kBytes);
    const auto chunk = [](std::size_t i) {
        Bytes bytes(ChunkCache::kLongest, 'x');
        bytes[0] = static_cast<std::uint8_t>(i), bytes[1] = static_cast<std::uint8_t>(i >> 8);
        return bytes;
    };
    const auto ids = [](std::size_t i) {
        return std::vector<Id>(ChunkCache::kMostIds, static_cast<Id>(i));
    };
    const std::size_t words = ChunkCache::kLongest / 4 + ChunkCache::kMostIds;
    // The ring takes a sixth of the memory.
    const std::size_t room = (kBytes / 6 / sizeof(Id)) / words;
    const Bytes small(3, 's');
    cache.insert(small, {7});
    // Newer chunks evict some older ones from their buckets; the ring keeps all others.
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
    CHECK(held(2 * room + 1, 3 * room) >= room - room / 20);
    CHECK(held(0, 2 * room) == 0);
    CHECK(cache.holds(small, {7}));
}

TEST(cache_takes_no_more_than_it_may) {
    for (const std::size_t bytes : {std::size_t{0}, std::size_t{1} << 20}) {
        Cache cache(bytes);
        cache.begin(std::size_t{1} << 40);
        std::size_t held = 0;
        for (int i = 0; i < 100'000; ++i) cache.insert(bytes_of(std::to_string(i)), {1});
        for (int i = 0; i < 100'000; ++i) held += cache.holds(bytes_of(std::to_string(i)), {1});
        constexpr std::size_t kLeast = ChunkCache::kFewestBuckets * ChunkCache::kBytesPerBucket;
        const std::size_t buckets = std::max(bytes, kLeast) / ChunkCache::kBytesPerBucket *
                                    (BucketTable::kSharing + 1) / BucketTable::kSharing;
        CHECK(held <= buckets * BucketTable::kSlots && held > buckets);
    }
}

TEST(cache_keeps_most_while_it_grows) {
    const auto chunk = [](std::size_t i) { return bytes_of(std::to_string(i * 7919)); };
    // For some chunks, the ids or the bytes do not fit into a slot.
    const auto text = [&](std::size_t i) {
        Bytes bytes = chunk(i);
        if (i % 5 == 0) bytes.resize(bytes.size() + 15, 'x');
        return bytes;
    };
    const auto ids = [](std::size_t i) { return std::vector<Id>(1 + i % 6, static_cast<Id>(i)); };
    const std::size_t chunks = 60 * ChunkCache::kFewestBuckets;
    for (const std::size_t bytes : {0, 1 << 22, 1 << 30}) {
        Cache cache;
        cache.begin(bytes);
        for (std::size_t i = 0; i < chunks; ++i) cache.insert(text(i), ids(i));
        std::size_t held = 0;
        for (std::size_t i = 0; i < chunks; ++i) {
            const auto [is_there, has_room] = cache.use.probe_home(key_of(text(i)));
            CHECK(is_there || !has_room || cache.misses(text(i)));
            const bool holds = cache.holds(text(i), ids(i));
            CHECK(holds || cache.misses(text(i)));
            held += holds;
        }
        CHECK(held > chunks - chunks / 50);
        CHECK(cache.buckets() > chunks / 2);
    }
}

TEST(distinct_chunks_get_rarer) {
    CHECK(DistinctEstimate().in_all() == 0);
    CHECK(DistinctEstimate(std::size_t{1} << 24).in_all() == std::size_t{1} << 16);
    const DistinctEstimate chunks(800, 1000);
    CHECK(chunks.in_all(1000, 0) == 1000);    // nothing is known yet
    CHECK(chunks.in_all(1010, 100) == 1040);  // eight times the text: four times as many chunks
    CHECK(chunks.in_all(1100, 800) == 1100);
    CHECK(chunks.in_all(1100, 1800) == 1100);  // the text is longer than announced
    CHECK(DistinctEstimate(~std::size_t{0}).in_all(std::size_t{1} << 30, 1) == 1'000'000'000'000);
}

TEST(cache_makes_room_for_the_expected_chunks) {
    const auto bring = [](Cache& cache, std::size_t chunks, std::size_t bytes) {
        for (std::size_t i = 0; i < chunks; ++i) {
            cache.insert(bytes_of(std::to_string(i)), {static_cast<Id>(i)});
            cache.use.report_progress(bytes / chunks - 1);
        }
    };
    constexpr std::size_t kFew = ChunkCache::kFewestBuckets;
    Cache cache;
    cache.begin(32 * kFew);
    bring(cache, 2 * kFew + 100, 32 * kFew);
    CHECK(cache.buckets() == 2 * kFew);  // the rest of the text is short, so it does not grow
    Cache other;
    other.begin(std::size_t{64} * 32 * kFew);
    bring(other, 2 * kFew + 100, 32 * kFew);
    CHECK(other.buckets() == 64 * kFew);  // 64 times the text: 16 times as many chunks
}

TEST(cache_is_as_large_as_a_text_needs) {
    constexpr std::size_t kFew = ChunkCache::kFewestBuckets;
    Cache cache;
    CHECK(cache.buckets() == kFew);
    cache.begin(32 * kFew);
    CHECK(cache.buckets() == 2 * kFew);
    cache.begin(std::size_t{1} << 40);
    CHECK(cache.buckets() == 2 * kFew);  // with one thread, it grows after this number of chunks
    // With several threads, it grows at once, but not beyond its limit.
    ChunkCache shared;
    shared.begin(std::size_t{1} << 24, 2);
    CHECK(shared.buckets() == std::size_t{1} << 16);
    shared.begin(std::size_t{1} << 20, 2);
    CHECK(shared.buckets() == std::size_t{1} << 16);
    shared.begin(std::size_t{1} << 40, 2);
    CHECK(shared.buckets() * ChunkCache::kBytesPerBucket <= ChunkCache::kBytes);
    CHECK(shared.buckets() * ChunkCache::kBytesPerBucket > ChunkCache::kBytes / 2);
}

TEST(cache_grows_between_texts_before_it_is_full) {
    constexpr std::size_t kFew = ChunkCache::kFewestBuckets;
    const auto number = [](std::size_t i) { return bytes_of(std::to_string(i)); };
    for (const std::size_t chunks : {kFew * 3 / 4 - 64, kFew * 3 / 4 + 64}) {
        Cache cache;
        for (std::size_t i = 0; i < chunks; ++i) cache.insert(number(i), {static_cast<Id>(i)});
        CHECK(cache.buckets() == kFew);
        cache.begin(100);
        CHECK(cache.buckets() == (chunks > kFew * 3 / 4 ? 2 : 1) * kFew);
        std::size_t held = 0;
        for (std::size_t i = 0; i < chunks; ++i)
            held += cache.holds(number(i), {static_cast<Id>(i)});
        CHECK(held > chunks - chunks / 500);
    }
    Cache full(0);
    for (std::size_t i = 0; i < 2 * kFew; ++i) full.insert(number(i), {1});
    full.begin(100);
    CHECK(full.buckets() == kFew);  // at the maximum size
}

TEST(cache_stores_tags_and_rejects_long_chunks) {
    const std::vector<Id> ids(ChunkCache::kMostIds + 1, 3);
    const Bytes chunk(9, 'n'), longer(ChunkCache::kLongest + 1, 'n');
    for (const std::size_t count : {std::size_t{0}, std::size_t{2}, ChunkCache::kMostIds}) {
        Cache cache;
        cache.insert(chunk, {ids.begin(), ids.begin() + static_cast<std::ptrdiff_t>(count)},
                     0xABCDEF);
        CHECK(cache.find(chunk).count == count && cache.find(chunk).tag == 0xABCDEF);
    }
    Cache cache;
    cache.insert(chunk, ids);
    cache.insert(longer, {1});
    CHECK(cache.misses(chunk) && cache.misses(longer));
}

TEST(cache_of_several_threads_is_only_added_to) {
    const std::vector<Bytes> chunks = of_one_bucket(12);
    ChunkCache cache;
    cache.begin(0, 2);
    Thread one(cache), other(cache);
    for (Id id = 0; id < 12; ++id) (id % 2 ? one : other).insert(chunks[id], {id});
    other.insert(chunks[0], {99});  // already present
    for (Id id = 0; id < 12; ++id) {
        CHECK(id < 4 ? one.holds(chunks[id], {id}) && other.holds(chunks[id], {id})
                     : one.misses(chunks[id]));
        CHECK((one.near(chunks[id]) != nullptr) == (id < 2));  // it is not moved
    }
    cache.begin(0, 1);
    for (Id id = 0; id < 4; ++id) CHECK(one.holds(chunks[id], {id}));
    one.insert(chunks[6], {6});
    CHECK(one.holds(chunks[6], {6}));
}

TEST(cache_of_several_threads_overwrites_nothing) {
    ChunkCache cache(0);
    cache.begin(0, 2);
    Thread one(cache), other(cache);
    const auto chunk = [](std::size_t i) {
        Bytes bytes(ChunkCache::kLongest, 'x');
        std::memcpy(bytes.data(), &i, sizeof i);
        return bytes;
    };
    const auto ids = [](std::size_t i) {
        return std::vector<Id>(ChunkCache::kMostIds, static_cast<Id>(i));
    };
    constexpr std::size_t kWords = ChunkCache::kLongest / sizeof(Id) + ChunkCache::kMostIds;
    constexpr std::size_t kRoom = ChunkCache::kFewestBuckets * ChunkCache::kWordsPerBucket / kWords;
    for (std::size_t i = 0; i < 2 * kRoom; ++i) (i % 2 ? one : other).insert(chunk(i), ids(i));
    for (std::size_t i = 0; i < 2 * kRoom; ++i)
        CHECK(i < kRoom ? one.holds(chunk(i), ids(i)) : one.misses(chunk(i)));
    // With one thread again, nothing is lost. Overwritten words are not found by several threads
    // either.
    cache.begin(0, 1);
    for (std::size_t i = kRoom; i < kRoom + kRoom / 2; ++i) one.insert(chunk(i), ids(i));
    cache.begin(0, 2);
    for (std::size_t i = 0; i < 2 * kRoom; ++i) {
        const bool held = i >= kRoom / 2 + 1 && i < kRoom + kRoom / 2;
        CHECK(held ? other.holds(chunk(i), ids(i)) : other.misses(chunk(i)) || i == kRoom / 2);
    }
}

TEST(cache_of_several_threads_grows_between_calls_or_is_cleared) {
    constexpr std::size_t kFew = ChunkCache::kFewestBuckets;
    for (const std::size_t bytes : {ChunkCache::kBytes, std::size_t{0}}) {
        ChunkCache cache(bytes);
        Thread one(cache), other(cache);
        std::size_t number = 0;
        const auto bring = [&](std::size_t chunks) {
            cache.begin(0, 2);
            const ChunkCache::Handle::Session turn(one.use), other_turn(other.use);
            for (const std::size_t last = number + chunks; number < last; ++number)
                (number % 2 ? one : other).insert(bytes_of(std::to_string(number)), {1});
        };
        const auto held = [&] {
            std::size_t count = 0;
            for (std::size_t i = 0; i < number; ++i)
                count += one.holds(bytes_of(std::to_string(i)), {1});
            return count;
        };
        bring(4 * kFew);
        CHECK(cache.buckets() == kFew);
        const std::size_t before = held();
        CHECK(before > 2 * kFew && before <= number - kFew);
        bring(2 * kFew);
        if (bytes != 0) {
            CHECK(cache.buckets() == 2 * kFew);
            CHECK(held() > before + kFew);
        } else {
            CHECK(cache.buckets() == kFew);
            CHECK(held() < before + kFew);  // most later chunks were rejected
            bring(2 * kFew);
            bring(100);  // none of the present chunks is used any more
            CHECK(held() == 100);
        }
    }
}

// If chunks that are present counted as rejected, the table would be cleared.
TEST(a_present_chunk_does_not_count_as_rejected) {
    constexpr std::size_t kChunks = 600;
    ChunkCache cache(0);
    Thread one(cache), other(cache);
    const auto bring = [&](Thread& thread) {
        const ChunkCache::Handle::Session turn(thread.use);
        for (std::size_t i = 0; i < kChunks; ++i) thread.insert(bytes_of(std::to_string(i)), {1});
    };
    cache.begin(1 << 20, 2);
    bring(one);
    for (std::size_t round = 0; round < 5 * ChunkCache::kFewestBuckets / kChunks; ++round)
        bring(other);
    cache.begin(1 << 20, 2);
    for (std::size_t i = 0; i < kChunks; ++i) CHECK(one.holds(bytes_of(std::to_string(i)), {1}));
}

TEST(cache_is_right_on_threads_that_read_it_and_add_to_it) {
    constexpr std::size_t kThreads = 4;
    // For some chunks, the ids or the bytes do not fit into a slot.
    const auto chunk_of = [](std::size_t i) {
        Bytes bytes = bytes_of(std::to_string(i));
        if (i % 5 == 0) bytes.resize(bytes.size() + 17, 'x');
        return bytes;
    };
    const auto ids_of = [](std::size_t i) {
        return std::vector<Id>(1 + i % 9, static_cast<Id>(i * 2654435761u));
    };
    // A cache that is soon full, and one that has room.
    for (const std::size_t bytes : {std::size_t{0}, ChunkCache::kBytes}) {
        ChunkCache cache(bytes);
        const std::size_t chunks = bytes ? 30'000 : 200'000, steps = bytes ? 60'000 : 40'000;
        cache.begin(1 << 20, kThreads);
        std::atomic<std::size_t> wrong{0}, found{0};
        const auto work = [&](std::size_t thread) {
            Thread user(cache);
            const ChunkCache::Handle::Session turn(user.use);
            Random random{thread};
            for (std::size_t step = 0; step < steps; ++step) {
                const std::size_t i = std::min(random.below(chunks), random.below(chunks));
                const Bytes chunk = chunk_of(i);
                const std::vector<Id> ids = ids_of(i);
                if (const CacheEntry* entry = user.near(chunk); entry && entry->has_full_ids()) {
                    wrong += !std::equal(ids.begin(), ids.end(), entry->words,
                                         entry->words + entry->count());
                }
                if (user.misses(chunk)) {
                    user.insert(chunk, ids);
                } else {
                    ++found;
                    wrong += !user.holds(chunk, ids);
                }
            }
        };
        std::vector<std::thread> threads;
        for (std::size_t i = 0; i < kThreads; ++i) threads.emplace_back(work, i);
        for (std::thread& thread : threads) thread.join();
        CHECK(wrong == 0);
        CHECK(found > (bytes ? kThreads * steps / 2 : 1000));
    }
}

// Threads often try to fill one slot at the same time, while others read it; only one succeeds.
TEST(cache_is_right_on_threads_with_equal_chunks) {
    constexpr std::size_t kThreads = 2, kChunks = 100'000;
    ChunkCache cache;
    cache.begin(1 << 20, kThreads);
    std::latch start(kThreads);
    std::atomic<std::size_t> wrong{0}, found{0};
    const auto work = [&] {
        Thread user(cache);
        const ChunkCache::Handle::Session turn(user.use);
        start.arrive_and_wait();
        for (std::size_t i = 0; i < kChunks; ++i) {
            const Bytes chunk = bytes_of(std::to_string(i));
            if (user.misses(chunk)) user.insert(chunk, {static_cast<Id>(i)});
            const LookupResult ids = user.find(chunk);  // none if there was no room
            found += ids.ids != nullptr;
            wrong += ids.ids && (ids.count != 1 || ids.ids[0] != i);
        }
    };
    std::thread other(work);
    work();
    other.join();
    CHECK(wrong == 0);
    CHECK(found > kChunks / 10);  // lenient: a slow thread may delay growing
}

TEST(char_cache_is_right_on_threads_with_equal_characters) {
    CharCache singles;
    std::atomic<std::size_t> wrong{0};
    const auto work = [&] {
        for (std::size_t i = 0; i < 20'000; ++i) {
            const std::size_t code = i * i % 4096;
            const std::uint8_t text[] = {0xE4, static_cast<std::uint8_t>(0x80 + code / 64),
                                         static_cast<std::uint8_t>(0x80 + code % 64), 0};
            const Id id = static_cast<Id>(code);
            if (const CharCache::Number number = singles.numbers().of(text)) {
                wrong += singles.entries()[number].words[0] != id;
            } else {
                singles.insert(text, {&id, 1});
                wrong += singles.numbers().of(text) == 0;
            }
        }
    };
    std::thread other(work);
    work();
    other.join();
    CHECK(wrong == 0);
}

TEST(char_cache_has_an_entry_for_each_character_of_three_bytes) {
    const Bytes han = bytes_of("\xE6\xBC\xA2");
    for (const char* other : {"abcd", "\xC3\xA9xx", "\xF0\x9F\x98\x80", "\xE6xxx", "\xE6\xBCxx",
                              "\xE6x\xA2x", "\xFF\xBC\xA2x"}) {
        CHECK(!CharCache::may_be_at(bytes_of(other).data()));
    }
    CharCache singles;
    const Id many[] = {1, 2, 3, 1 << 16};
    Id id = 0;
    for (int second = 0x80; second < 0xC0; ++second) {
        for (int first = 0xE0; first < 0xF0; ++first) {
            const Bytes chunk = {static_cast<std::uint8_t>(first),
                                 static_cast<std::uint8_t>(second), 0xA2, 'x'};
            // The code of an overlong form equals that of another character.
            const bool overlong = first == 0xE0 && second < 0xA0;
            CHECK(CharCache::may_be_at(chunk.data()) == !overlong);
            if (overlong) continue;
            CHECK(singles.numbers().of(chunk.data()) == 0);
            singles.insert(chunk.data(), {many, 4});  // more ids than it stores
            CHECK(singles.numbers().of(chunk.data()) == 0);
            const Id ids[] = {id++, 7};
            singles.insert(chunk.data(), {ids, 2, 5});
            const auto& entry = singles.entries()[singles.numbers().of(chunk.data())];
            CHECK(entry.count() == 2 && entry.tag() == 5);
            CHECK(entry.words[0] == ids[0] && entry.words[1] == 7);
        }
    }
    // Later characters have other entries.
    CHECK(singles.entries()[singles.numbers().of(han.data())].words[0] == 0x3C * 16 + 6 - 0x20);
}

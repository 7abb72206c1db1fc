// The chunk cache.
#include "cache/single_cache.hpp"
#include "isa/pairs.hpp"
#include "kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Cache {
    ChunkCache cache;

    static ChunkKey key(const Bytes& chunk) {
        return ChunkKey::of(chunk.data(), chunk.size(), chunk.data() + chunk.size());
    }
    void insert(const Bytes& chunk, const std::vector<Id>& ids) {
        cache.insert(key(chunk), chunk.data(), chunk.size(), {ids.data(), ids.size()});
    }
    ChunkCache::Found find(const Bytes& chunk) {
        return cache.look_up(key(chunk), chunk.data(), chunk.size());
    }
    bool holds(const Bytes& chunk, const std::vector<Id>& ids) {
        const ChunkCache::Found found = find(chunk);
        return found.ids && std::vector<Id>(found.ids, found.ids + found.count) == ids;
    }
    bool misses(const Bytes& chunk) { return !find(chunk).ids; }
};

// So many chunks of one line.
std::vector<Bytes> of_one_line(std::size_t count) {
    std::map<const ChunkCache::Line*, std::vector<Bytes>> by_line;
    const Cache empty;
    for (std::uint64_t number = 0;; ++number) {
        const Bytes chunk = bytes_of(std::to_string(number));
        std::vector<Bytes>& chunks = by_line[empty.cache.first_lines().ask(Cache::key(chunk))];
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
    cache.cache.clear();
    CHECK(cache.misses(Bytes(1, 'b')));
}

TEST(cache_answers_of_few_ids_stand_in_their_slots) {
    Random random{3};
    for (std::size_t count = 0; count < 9; ++count) {
        for (int round = 0; round < 50; ++round) {
            std::vector<Id> ids(count);
            for (Id& id : ids) id = static_cast<Id>(random.below(0x10000));
            if (count > 0) ids[0] = round % 2 ? 0xFFFF : 0;
            const bool large = count > 0 && round % 5 == 0;
            if (large) ids[random.below(count)] = round % 10 ? 0x10000 : 0xFFFFFFFF;
            ChunkCache::Answer answer{};
            const bool fits = count <= 3 || (count <= ChunkCache::kIdsInside && !large);
            CHECK(answer.set({ids.data(), count, 77}) == fits);
            Cache cache;
            const Bytes chunk = bytes_of("a chunk");
            cache.insert(chunk, ids);
            CHECK(cache.holds(chunk, ids));
            if (!fits) continue;
            CHECK(answer.count() == count && answer.note() == 77);
            CHECK(answer.is_plain() == (count <= 3));
            std::vector<Id> found(answer.words, answer.words + std::min<std::size_t>(count, 3));
            if (!answer.is_plain()) {
                found.resize(ChunkCache::kIdsInside);
                answer.unpack(found.data());
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
        const auto a = Cache::key(alone);
        const auto b = ChunkKey::of(inside.data(), size, inside.data() + inside.size());
        CHECK(a == b);
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
    CHECK(!cache.cache.look_up(Cache::key(chunk), other.data(), other.size()).ids);
}

TEST(cache_keeps_the_first_and_the_last_of_a_full_line) {
    const std::vector<Bytes> chunks = of_one_line(40);
    Cache cache;
    const auto is_found = [&](Id id) {
        const ChunkKey key = Cache::key(chunks[id]);
        return ChunkCache::find(cache.cache.first_lines().ask(key), key, pairs::place_of);
    };
    for (Id id = 0; id < 40; ++id) {
        cache.insert(chunks[id], {id});
        if (id < 4) CHECK((is_found(id) != nullptr) == (id < 2));
        if (id > 0 && id < 4 + 7) CHECK(is_found(0) && is_found(1));
        if (id == 38) CHECK(cache.holds(chunks[38], {38}));
    }
    CHECK(is_found(38));  // it was asked for
    CHECK(cache.holds(chunks[39], {39}));
    // Not for good.
    CHECK(cache.misses(chunks[0]) && cache.misses(chunks[1]));
}

TEST(cache_writes_over_what_its_arena_has_held_longest) {
    constexpr std::size_t kBytes = std::size_t{3} << 20;
    Cache cache{ChunkCache(kBytes)};
    const auto chunk = [](std::size_t i) {
        Bytes bytes(ChunkCache::kLongest, 'x');
        bytes[0] = static_cast<std::uint8_t>(i), bytes[1] = static_cast<std::uint8_t>(i >> 8);
        return bytes;
    };
    const auto ids = [](std::size_t i) {
        return std::vector<Id>(ChunkCache::kMostIds, static_cast<Id>(i));
    };
    const std::size_t words = ChunkCache::kLongest / 4 + ChunkCache::kMostIds;
    const std::size_t room = (kBytes / 6 / sizeof(Id)) / words;  // a sixth is the arena's
    const Bytes small(3, 's');
    cache.insert(small, {7});
    // Some are pushed out of their lines by younger ones; the ring keeps all others.
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
        Cache cache{ChunkCache(bytes)};
        cache.cache.expect(std::size_t{1} << 40);
        cache.cache.read(1);
        std::size_t held = 0;
        for (int i = 0; i < 100'000; ++i) cache.insert(bytes_of(std::to_string(i)), {1});
        for (int i = 0; i < 100'000; ++i) held += cache.holds(bytes_of(std::to_string(i)), {1});
        constexpr std::size_t kLeast = ChunkCache::kFewestLines * ChunkCache::kBytesPerLine;
        const std::size_t lines = std::max(bytes, kLeast) / ChunkCache::kBytesPerLine *
                                  (ChunkCache::kSharing + 1) / ChunkCache::kSharing;
        CHECK(held <= lines * ChunkCache::kSlots && held > lines);
    }
}

TEST(cache_keeps_most_while_it_grows) {
    const auto chunk = [](std::size_t i) { return bytes_of(std::to_string(i * 7919)); };
    // Of some, the ids do not fit into a slot, or the bytes do not.
    const auto text = [&](std::size_t i) {
        Bytes bytes = chunk(i);
        if (i % 5 == 0) bytes.resize(bytes.size() + 15, 'x');
        return bytes;
    };
    const auto ids = [](std::size_t i) { return std::vector<Id>(1 + i % 6, static_cast<Id>(i)); };
    const std::size_t chunks = 60 * ChunkCache::kFewestLines;
    // What a text is expected to bring is no more than a guess.
    for (const std::size_t bytes : {0, 1 << 22, 1 << 30}) {
        Cache cache;
        cache.cache.expect(bytes);
        cache.cache.read(1 << 20);
        for (std::size_t i = 0; i < chunks; ++i) cache.insert(text(i), ids(i));
        std::size_t near = 0, held = 0;
        for (std::size_t i = 0; i < chunks; ++i) {
            near += cache.cache.is_near(Cache::key(text(i)));
            const bool holds = cache.holds(text(i), ids(i));
            CHECK(holds || cache.misses(text(i)));
            held += holds;
        }
        CHECK(held > chunks - chunks / 50);
        // In twice the lines, more stand where they are found first.
        CHECK((near > chunks - chunks / 20) == (bytes == 1 << 30));
    }
}

TEST(new_chunks_are_expected_ever_rarer) {
    CHECK(NewChunks().in_all(100) == 100);
    NewChunks chunks(800, 1000);
    CHECK(chunks.in_all(1000) == 1000);  // nothing is known yet
    chunks.read(100);
    CHECK(chunks.in_all(1010) == 1040);  // eight times the text: four times as many
    chunks.read(699);
    CHECK(chunks.in_all(1100) == 1100);
    chunks.read(1000);
    CHECK(chunks.in_all(1100) == 1100);  // more was read than had been said
    NewChunks many(~std::size_t{0}, 0);
    many.read(1);
    CHECK(many.in_all(std::size_t{1} << 30) == NewChunks::kMost);
}

TEST(cache_keeps_of_what_it_is_told_what_finds_room) {
    const std::vector<Bytes> chunks = of_one_line(4);
    Cache cache, teller;
    cache.insert(chunks[0], std::vector<Id>(ChunkCache::kMostIds, 9));  // not in its slot
    ChunkCache::News news;
    for (Id id = 0; id < 4; ++id) {
        const Id ids[] = {id, id + 1};
        const auto key = Cache::key(chunks[id]);
        const auto* answer = teller.cache.insert(key, nullptr, chunks[id].size(), {ids, 2, 5});
        CHECK(answer);
        news.insert(news.end(), 2, {key, *answer});  // twice
    }
    cache.cache.keep(news);
    CHECK(cache.holds(chunks[0], std::vector<Id>(ChunkCache::kMostIds, 9)));
    CHECK(cache.holds(chunks[1], {1, 2}) && cache.find(chunks[1]).note == 5);
    CHECK(cache.misses(chunks[2]) && cache.misses(chunks[3]));
    cache.insert(chunks[2], {8});
    CHECK(cache.holds(chunks[2], {8}) && cache.holds(chunks[1], {1, 2}));
    Cache other;
    other.cache.keep(news);
    CHECK(other.holds(chunks[0], {0, 1}) && other.holds(chunks[1], {1, 2}));
    CHECK(other.misses(chunks[2]));
}

TEST(cache_makes_room_for_what_it_was_told_when_the_next_text_comes) {
    Cache cache, teller;
    ChunkCache::News news;
    const auto told = [&](std::size_t number) {
        const Bytes chunk = bytes_of("told " + std::to_string(number));
        const Id id = 7;
        const auto key = Cache::key(chunk);
        news.push_back({key, *teller.cache.insert(key, chunk.data(), chunk.size(), {&id, 1})});
        return chunk;
    };
    for (std::size_t i = 0; i <= ChunkCache::kFewestLines; ++i) told(i);
    const auto shift = [&] { return cache.cache.first_lines().places.shift; };
    const int before = shift();
    cache.cache.expect(1000);
    cache.cache.keep(news);
    std::size_t kept = 0;
    for (const auto& [key, answer] : news)
        kept += cache.cache.look_up(key, key.bytes(), key.size()).ids != nullptr;
    CHECK(kept > ChunkCache::kFewestLines * 4 / 5);
    news.clear();
    for (std::size_t i = 0; kept + news.size() <= ChunkCache::kFewestLines; ++i)
        cache.insert(told(ChunkCache::kFewestLines + 1 + i), {7});
    CHECK(shift() == before);
    cache.cache.expect(1000);
    cache.insert(told(0), {7});
    CHECK(shift() == before - 1);
}

TEST(cache_keeps_notes_and_leaves_out_what_is_too_long) {
    Cache cache;
    const std::vector<Id> ids(ChunkCache::kMostIds + 1, 3);
    const Bytes chunk(9, 'n'), longer(ChunkCache::kLongest + 1, 'n');
    for (const std::size_t count : {std::size_t{0}, std::size_t{2}, ChunkCache::kMostIds}) {
        cache.cache.clear();
        cache.cache.insert(Cache::key(chunk), chunk.data(), chunk.size(),
                           {ids.data(), count, 0xABCDEF});
        CHECK(cache.find(chunk).count == count && cache.find(chunk).note == 0xABCDEF);
    }
    cache.cache.clear();
    cache.insert(chunk, ids);
    cache.insert(longer, {1});
    CHECK(cache.misses(chunk) && cache.misses(longer));
}

TEST(single_cache_has_a_place_for_each_character_of_three_bytes) {
    const Bytes han = bytes_of("\xE6\xBC\xA2");
    for (const char* other : {"abcd", "\xC3\xA9xx", "\xF0\x9F\x98\x80", "\xE6xxx", "\xE6\xBCxx",
                              "\xE6x\xA2x", "\xFF\xBC\xA2x"}) {
        CHECK(!SingleCache::may_be_at(bytes_of(other).data()));
    }
    SingleCache singles;
    const Id many[] = {1, 2, 3, 1 << 16};
    Id id = 0;
    for (int second = 0x80; second < 0xC0; ++second) {
        for (int first = 0xE0; first < 0xF0; ++first) {
            const Bytes chunk = {static_cast<std::uint8_t>(first),
                                 static_cast<std::uint8_t>(second), 0xA2, 'x'};
            CHECK(SingleCache::may_be_at(chunk.data()));
            CHECK(singles.number(chunk.data()) == 0);
            singles.insert(chunk.data(), {many, 4});  // more than it keeps
            CHECK(singles.number(chunk.data()) == 0);
            const Id ids[] = {id++, 7};
            singles.insert(chunk.data(), {ids, 2, 5});
            const auto& answer = singles.answer(singles.number(chunk.data()));
            CHECK(answer.count() == 2 && answer.note() == 5);
            CHECK(answer.words[0] == ids[0] && answer.words[1] == 7);
        }
    }
    // What came later is elsewhere.
    CHECK(singles.answer(singles.number(han.data())).words[0] == 0x3C * 16 + 6);
}

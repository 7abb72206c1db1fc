// The encoder with its threads and caches, the decoder, and the selection of the instruction set.
#include <atomic>
#include <latch>
#include <thread>

#include "encode/decoder.hpp"
#include "failing_memory.hpp"
#include "kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

Decoder decoder_of(const Merges& merges) {
    Vocabulary vocab = vocabulary(merges.tokens);
    return {std::move(vocab.bytes), std::move(vocab.offsets)};
}

Bytes decode(const Decoder& decoder, const std::vector<Id>& ids, std::size_t threads) {
    CHECK(decoder.first_unknown(ids.data(), ids.size()) == Decoder::kAllKnown);
    return decoded(decoder, ids, threads);
}

}  // namespace

TEST(encode_is_the_same_on_any_number_of_threads) {
    Random random{4};
    const Bytes page = random_text(random, 3000);
    const Merges merges = random_merges(random, text_of(page), 100);
    const auto model = merges.model();
    const Decoder decoder = decoder_of(merges);
    Bytes text;  // long enough for three tasks
    while (text.size() < 2'700'000) text.insert(text.end(), page.begin(), page.end());
    for (int family = 0; family < kPatterns; ++family) {
        // With Family::kNone, the text is one chunk, which is slow to merge.
        const Text whole = family == 0 ? text_of(page) : text_of(text);
        Encoder encoder(model, static_cast<Family>(family), isa::best());
        const std::vector<Id> ids = list(encoder.encode({whole}, 1).ids);
        for (std::size_t threads = 2; threads <= 4; ++threads) {
            const Encoded encoded = encoder.encode({whole}, threads);
            CHECK(list(encoded.ids) == ids);
            CHECK(encoded.offsets == std::vector<std::int64_t>({0, std::ssize(ids)}));
            CHECK(encoder.count({whole}, threads) == ids.size());
            CHECK(std::ranges::equal(decode(decoder, ids, threads),
                                     std::ranges::subrange(whole.begin, whole.end)));
        }
        encoder.forget();
        CHECK(list(encoder.encode({whole}, 1).ids) == ids);
    }
}

TEST(encode_is_the_same_on_threads_with_many_misses) {
    Random random{14};
    Bytes text;
    while (text.size() < 1'500'000) {
        // Some words are cached, and some repeat soon, perhaps on another thread.
        std::string word = std::to_string(random.below(20'000));
        for (char& digit : word) digit = static_cast<char>(digit + 'a' - '0');
        text.insert(text.end(), word.begin(), word.end());
        text.push_back(random.below(9) ? ' ' : '\n');
    }
    const Merges merges = random_merges(random, {text.data(), text.data() + 5000}, 60);
    const auto model = merges.model();
    for (const isa::Level level : {isa::Level::kScalar, isa::best()}) {
        const auto encoded = [&](std::size_t threads) {
            Encoder encoder(model, Family::kGpt2, level);
            const std::vector<Id> ids = list(encoder.encode({text_of(text)}, threads).ids);
            CHECK(list(encoder.encode({text_of(text)}, 1).ids) == ids);  // with all chunks cached
            return ids;
        };
        const std::vector<Id> ids = encoded(1);
        for (std::size_t threads = 2; threads <= 5; ++threads) CHECK(encoded(threads) == ids);
    }
}

TEST(workers_share_one_cache) {
    Random random{15};
    const auto model = random_merges(random, text_of(bytes_of("words")), 3).model();
    WorkerSet workers(*model, 0, 1000);
    const Bytes word = bytes_of("word");
    const ChunkKey key = ChunkKey::of(word.data(), word.size(), word.data() + word.size());
    workers.begin(2, 1000);
    {
        const ChunkCache::Handle::Session one(workers.worker(0).cache),
            two(workers.worker(1).cache);
        const Id id = 7;
        workers.worker(0).cache.insert(key, word.data(), word.size(), {&id, 1});
    }
    workers.begin(3, 1000);
    for (std::size_t worker = 0; worker < 3; ++worker) {
        const LookupResult found =
            workers.worker(worker).cache.look_up(key, word.data(), word.size());
        CHECK(found.ids && found.count == 1 && found.ids[0] == 7);
    }
}

TEST(encode_levels_agree_on_letters_that_may_be_cut) {
    Random random{9};
    const std::string_view letters[] = {"中", "国", "文", "한", "글", "é", "ж", "あ",    "い",
                                        "𠀀", "É",  "Ж",  "a",  "A",  "क", "ा", "\u0301"};
    for (int round = 0; round < 200; ++round) {
        Bytes text;
        const std::size_t kinds = 2 + random.below(std::size(letters) - 1);
        while (text.size() < 600) {
            for (std::size_t i = random.below(60); i > 0; --i) {
                const std::string_view letter = letters[random.below(kinds)];
                text.insert(text.end(), letter.begin(), letter.end());
            }
            const Bytes between = random_text(random, random.below(3));
            text.insert(text.end(), between.begin(), between.end());
        }
        // Merges of bytes: many tokens contain parts of characters.
        const auto model = random_merges(random, text_of(text), random.below(80)).model();
        for (const Family family : {Family::kGpt2, Family::kCl100kTiktoken, Family::kO200k}) {
            Encoder plain(model, family, isa::Level::kScalar);
            const std::vector<Id> ids = list(plain.encode({text_of(text)}, 1).ids);
            for (const isa::Level level : levels()) {
                Encoder encoder(model, family, level);
                CHECK(list(encoder.encode({text_of(text)}, 1).ids) == ids,
                      std::string(isa::name(level)));
                CHECK(chunk_ends(family, level, text_of(text)) ==
                      chunk_ends(family, isa::Level::kScalar, text_of(text)));
            }
        }
    }
}

// Hundreds of new chunks, which are merged in lanes if ids ascend with ranks. Among them are chunks
// that repeat at once, are too long for lanes, or occur again after they were evicted.
TEST(encode_chunks_merged_together_are_those_merged_alone) {
    Random random{17};
    for (int round = 0; round < 12; ++round) {
        const std::size_t letters = 2 + random.below(5);
        std::vector<Bytes> words;
        Bytes text;
        while (text.size() < 30'000) {
            if (words.empty() || random.below(3) > 0) {
                Bytes word(1, ' ');
                const std::size_t most = random.below(20) == 0  ? 120
                                         : random.below(3) == 0 ? 36
                                                                : 15;
                for (std::size_t i = 1 + random.below(most); i > 0; --i) {
                    word.push_back(static_cast<std::uint8_t>('a' + random.below(letters)));
                }
                words.push_back(std::move(word));
            }
            const std::size_t lately = std::min<std::size_t>(words.size(), 1 + random.below(300));
            const Bytes& word = words[words.size() - 1 - random.below(lately)];
            text.insert(text.end(), word.begin(), word.end());
        }
        Merges merges = random_merges(random, text_of(text), 200);
        if (round % 3 == 2) shuffle(random, merges.rules);
        const Merger alone(merges);
        const auto model = merges.model();
        CHECK(model->lane_merges() != nullptr);
        std::vector<Id> expected;
        const std::uint8_t* start = text.data();
        for (const std::uint64_t end :
             chunk_ends(Family::kGpt2, isa::Level::kScalar, text_of(text))) {
            const std::vector<Id> ids = alone({start, text.data() + end});
            expected.insert(expected.end(), ids.begin(), ids.end());
            start = text.data() + end;
        }
        for (const isa::Level level : levels()) {
            Encoder encoder(model, Family::kGpt2, level);
            for (const std::size_t cache_bytes : {ChunkCache::kBytes, std::size_t{1}}) {
                encoder.forget(cache_bytes);
                for (int pass = 0; pass < 3; ++pass) {
                    CHECK(list(encoder.encode({text_of(text)}, 1).ids) == expected,
                          std::string(isa::name(level)));
                }
                encoder.forget();
                CHECK(encoder.count({text_of(text)}, 1) == expected.size());
            }
        }
    }
}

// Varies the number of queued chunks, from a few to as many as a window can have.
TEST(encode_takes_chunks_in_the_order_of_the_text) {
    Random random{23};
    for (int round = 0; round < 20; ++round) {
        Bytes text;
        while (text.size() < 20'000) {
            const std::size_t kind = random.below(4);
            const std::size_t size = 1 + random.below(kind == 0 ? 400 : 40);
            for (std::size_t i = 0; i < size; ++i) {
                const auto letter = static_cast<std::uint8_t>('a' + random.below(3));
                text.push_back(kind == 0   ? i % 2 ? '1' : letter  // each byte is a chunk
                               : kind == 1 ? letter                // one chunk
                               : i % 5     ? letter
                                           : ' ');
            }
        }
        const Merges merges = random_merges(random, text_of(text), 100);
        const Merger alone(merges);
        const auto model = merges.model();
        for (int family = 1; family < kPatterns; ++family) {
            std::vector<Id> expected;
            const std::uint8_t* start = text.data();
            for (const std::uint64_t end :
                 chunk_ends(static_cast<Family>(family), isa::Level::kScalar, text_of(text))) {
                const std::vector<Id> ids = alone({start, text.data() + end});
                expected.insert(expected.end(), ids.begin(), ids.end());
                start = text.data() + end;
            }
            for (const isa::Level level : levels()) {
                Encoder encoder(model, static_cast<Family>(family), level);
                for (int pass = 0; pass < 2; ++pass) {
                    CHECK(list(encoder.encode({text_of(text)}, 1).ids) == expected,
                          std::string(isa::name(level)));
                    CHECK(encoder.count({text_of(text)}, 1) == expected.size());
                }
            }
        }
    }
}

TEST(encode_names_the_first_chunk_that_is_unknown) {
    struct Refusing final : Model {
        std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
        void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch&, IdArray&,
                          IdArray*) const override {
            throw std::runtime_error({reinterpret_cast<const char*>(chunk), size});
        }
    };
    const Bytes text = bytes_of(" longest longer long one by one");
    for (const isa::Level level : levels()) {
        Encoder encoder(std::make_shared<Refusing>(), Family::kGpt2, level);
        std::string named;
        try {
            encoder.encode({text_of(text)}, 1);
        } catch (const std::runtime_error& error) {
            named = error.what();
        }
        CHECK(named == " longest", named);
    }
}

namespace {

// Counts the chunks that it encodes, and the Scratch objects that exist. The chunk " no" is
// unknown.
struct Counting final : Model {
    mutable std::atomic<std::size_t> chunks{0}, scratches{0};

    struct Counted final : Scratch {
        std::atomic<std::size_t>& count;
        explicit Counted(std::atomic<std::size_t>& all) : count(all) { ++count; }
        ~Counted() override { --count; }
    };
    std::unique_ptr<Scratch> scratch() const override {
        return std::make_unique<Counted>(scratches);
    }
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch&, IdArray& out,
                      IdArray*) const override {
        if (std::string_view(reinterpret_cast<const char*>(chunk), size) == " no")
            throw UnknownText(chunk, size, 1);
        ++chunks;
        out.push(static_cast<Id>(size));
    }
};

}  // namespace

TEST(an_exception_leaves_the_caches_as_they_are) {
    Bytes known;
    for (int i = 0; i < 2000; ++i) {
        const Bytes word = bytes_of(" word" + std::to_string(i));
        known.insert(known.end(), word.begin(), word.end());
    }
    Bytes large = known;  // several tasks
    while (large.size() < 2'000'000) large.insert(large.end(), known.begin(), known.end());
    const Bytes no = bytes_of(" no");
    large.insert(large.end(), no.begin(), no.end());
    for (const std::size_t threads : {1, 2}) {
        const auto model = std::make_shared<Counting>();
        Encoder encoder(model, Family::kGpt2, isa::best());
        encoder.encode({text_of(known)}, threads);
        const std::size_t chunks = model->chunks;
        const auto check = [&] {
            encoder.encode({text_of(known)}, threads);
            CHECK(model->chunks == chunks);
        };
        check();
        CHECK_THROWS(encoder.encode({text_of(large)}, threads), UnknownText);
        check();
        CHECK_THROWS(encoder.count({text_of(large)}, threads), UnknownText);
        check();
        CHECK_THROWS(encoder.encode_here(text_of(no), [](const IdArray&) { return 0; }),
                     UnknownText);
        check();
        struct Interrupted {};
        {
            Stop stop([]() -> bool { throw Interrupted(); });
            const Stop::Scope scope(stop);
            bool interrupted = false;
            while (!interrupted) {
                try {
                    encoder.encode({text_of({large.begin(), large.end() - std::ssize(no)})},
                                   threads);
                } catch (const Interrupted&) {
                    interrupted = true;
                }
            }
        }
        check();
    }
}

TEST(memory_ends_while_a_string_is_encoded) {
    const auto model = std::make_shared<Counting>();
    const std::u16string text = u" \u4E2D\u6587 words";
    std::u16string longer;
    for (int i = 0; i < 1000; ++i) longer += text;
    const InputText small(text.data(), text.size(), utf8::kTwoBytes);
    const InputText large(longer.data(), longer.size(), utf8::kTwoBytes);
    Encoder whole(model, Family::kGpt2, isa::best());
    const std::vector<Id> expected = list(whole.encode({large}, 1).ids);
    const std::vector<Id> expected_small = list(whole.encode({small}, 1).ids);
    Encoder encoder(model, Family::kGpt2, isa::best());
    const std::size_t allocations = fail_each_allocation(
        kNothing,
        [&] {
            encoder.forget();
            encoder.encode({small}, 1);
            encoder.encode({large}, 1);
        },
        [&] {
            CHECK(list(encoder.encode({small}, 1).ids) == expected_small);
            CHECK(list(encoder.encode({large}, 1).ids) == expected);
        });
    CHECK(allocations > 5);
}

TEST(as_many_worker_sets_are_kept_as_there_are_cores) {
    const auto model = std::make_shared<Counting>();
    Encoder encoder(model, Family::kGpt2, isa::best());
    const Bytes text = bytes_of(" a few words");
    const std::size_t most = std::max(2u, std::thread::hardware_concurrency());
    const std::size_t kCallers = 2 * most + 4;
    std::latch all_encode(static_cast<std::ptrdiff_t>(kCallers));
    std::vector<std::thread> callers;
    for (std::size_t i = 0; i < kCallers; ++i) {
        callers.emplace_back([&] {
            encoder.encode_here(text_of(text), [&](const IdArray&) {
                all_encode.arrive_and_wait();
                return 0;
            });
        });
    }
    for (std::thread& caller : callers) caller.join();
    CHECK(model->scratches > 0 && model->scratches <= most, std::to_string(model->scratches));
    encoder.forget();
    CHECK(model->scratches == 0);
}

TEST(misses_of_one_hash_differ_by_their_text) {
    const Bytes text = bytes_of("20 letters or so, a."), other = bytes_of("20 letters or so, b.");
    const ChunkKey key = ChunkKey::of(text.data(), text.size());
    const PendingMisses::Chunk chunk{.key = key,
                                     .text = text.data(),
                                     .is_new = false,
                                     .tag = 0,
                                     .count = 0,
                                     .place = 0,
                                     .kept = {}};
    CHECK(!key.is_short() && key.size() == text.size() && chunk.bytes() == text.data());
    CHECK(chunk.is(key, Bytes(text).data()));
    CHECK(!chunk.is(key, other.data()));
}

TEST(encode_levels_agree_where_capitals_end_a_window) {
    Merges merges;  // make "中Ж"
    Id id = 0xE4;
    for (const char byte : std::string("\xB8\xAD\xD0\x96")) {
        const Id next = static_cast<std::uint8_t>(byte);
        merges.rules.push_back({id, next, static_cast<Id>(merges.tokens.size())});
        merges.tokens.push_back(merges.tokens[id] + byte);
        id = merges.rules.back().id;
    }
    const auto model = merges.model();
    for (const std::string_view word : {"中ЖЖ", "中ЖЖx", "x中Ж", "x中中Ж", "x中Жx"}) {
        for (std::size_t before = 0; before < 70; ++before) {
            std::string text = std::string(before, 'x') + " ";
            text.append(word).append(" ").append(70, 'x');
            const Bytes bytes = bytes_of(text);
            Encoder plain(model, Family::kO200k, isa::Level::kScalar);
            const std::vector<Id> ids = list(plain.encode({text_of(bytes)}, 1).ids);
            for (const isa::Level level : levels()) {
                Encoder encoder(model, Family::kO200k, level);
                CHECK(list(encoder.encode({text_of(bytes)}, 1).ids) == ids, text);
            }
        }
    }
}

TEST(encode_chunks_that_are_looked_up_as_a_whole_are_not_cut) {
    Merges merges;
    merges.tokens.emplace_back("国a");  // no merges make it: only a whole chunk can be this token
    const Bytes text = bytes_of(std::string(70, 'x') + " 中国a 国a" + std::string(70, '.'));
    for (const isa::Level level : levels()) {
        Encoder encoder(merges.model(true), Family::kGpt2, level);
        const std::vector<Id> ids = list(encoder.encode({text_of(text)}, 1).ids);
        CHECK(std::ranges::find(ids, Id{256}) == ids.end());
        Encoder alone(merges.model(true), Family::kGpt2, level);
        CHECK(list(alone.encode({text_of(bytes_of("国a"))}, 1).ids) == std::vector<Id>({256}));
    }
}

TEST(encode_documents) {
    Random random{5};
    const Bytes page = random_text(random, 2000);
    const Merges merges = random_merges(random, text_of(page), 60);
    std::vector<Bytes> texts(1);  // the first one is empty
    for (int i = 0; i < 300; ++i) texts.push_back(random_text(random, random.below(30)));
    std::vector<InputText> documents;
    for (const Bytes& text : texts) documents.push_back(text_of(text));
    std::vector<Id> ids;
    std::vector<std::int64_t> offsets = {0};
    Encoder one_by_one(merges.model(), Family::kO200k, isa::Level::kScalar);
    for (const InputText& document : documents) {
        const Encoded one = one_by_one.encode({document}, 1);
        ids.insert(ids.end(), one.ids.data(), one.ids.data() + one.ids.size());
        offsets.push_back(std::ssize(ids));
    }
    for (const isa::Level level : levels()) {
        for (std::size_t threads = 0; threads <= 4; ++threads) {
            // Misses stay pending across the ends of documents.
            Encoder encoder(merges.model(), Family::kO200k, level);
            Encoder counter(merges.model(), Family::kO200k, level);
            for (const char* time : {"new", "known"}) {
                const Encoded all = encoder.encode(documents, threads);
                CHECK(list(all.ids) == ids && all.offsets == offsets, time);
                CHECK(counter.count(documents, threads) == ids.size(), time);
            }
            CHECK(encoder.encode({}, threads).offsets == std::vector<std::int64_t>({0}));
        }
    }
}

TEST(decode_splits_no_character_that_contains_an_empty_token) {
    const Decoder decoder({0xC3, 0xA9}, {0, 1, 1, 2}, {1, 1, 1});
    std::vector<Id> ids;
    while (ids.size() < 3 << 17) ids.insert(ids.end(), {0, 1, 2});
    // In the second round, an empty document is in the middle.
    for (int round = 0; round < 2; ++round) {
        const Decoder::Parts parts = decoder.measure(ids.data(), ids.size(), 2);
        std::vector<std::uint8_t> characters(parts.characters());
        CHECK(decoder.decode_characters(ids.data(), parts, characters.data()));
        CHECK(characters == std::vector<std::uint8_t>(ids.size() / 3, 0xE9));
        ids.resize(ids.size() - 3);
    }
}

TEST(decode_ends_when_ids_change_meanwhile) {
    const Decoder decoder({'a', 'b', 0xC3, 0xA9, 'c'}, {0, 1, 5}, {});
    constexpr std::size_t kCount = 200'000;
    struct Change {
        Id before, meanwhile;
        std::uint8_t first;  // first byte
    };
    for (const auto& [before, meanwhile, first] : {Change{1, 0, 'a'}, {0, 1, 'b'}, {1, 7, 0}}) {
        std::vector<Id> ids(kCount, before);
        const Decoder::Parts parts = decoder.measure(ids.data(), ids.size(), 2);
        ids.assign(kCount, meanwhile);
        Bytes bytes(parts.bytes()), characters(parts.characters());
        decoder.decode(ids.data(), parts, bytes.data());
        CHECK(bytes[0] == first);
        decoder.decode_characters(ids.data(), parts, characters.data());
        CHECK(characters[0] == first);
    }
}

TEST(decode_literals) {
    Merges merges;
    merges.tokens.insert(merges.tokens.end(), {"", "sixteen bytes, 16", std::string(40, 'x')});
    const Decoder decoder = decoder_of(merges);
    CHECK(decode(decoder, {}, 4).empty());
    CHECK(decode(decoder, {257, 'a', 258, 'b'}, 4) ==
          bytes_of("sixteen bytes, 16a" + std::string(40, 'x') + "b"));
    const Id ids[] = {'a', 256, 'b', 259};
    CHECK(decoder.first_unknown(ids, 1) == Decoder::kAllKnown);
    CHECK(decoder.first_unknown(ids, 4) == 1);
    CHECK(decoder.first_unknown(ids + 2, 2) == 1);
    for (const std::vector<std::uint64_t>& offsets :
         std::initializer_list<std::vector<std::uint64_t>>{{}, {0}, {1, 2}, {0, 3}, {0, 2, 1, 2}}) {
        CHECK_THROWS(Decoder(Bytes(2), offsets), std::invalid_argument);
    }
}

TEST(isa_choose) {
    CHECK(isa::choose("") == isa::best());
    for (const isa::Level level : levels()) CHECK(isa::choose(isa::name(level)) == level);
    CHECK_THROWS(isa::choose("avx1"), std::invalid_argument);
    for (int i = 0; i < isa::kLevels; ++i) {
        const auto level = static_cast<isa::Level>(i);
        if (isa::is_available(level)) continue;
        CHECK_THROWS(isa::choose(isa::name(level)), std::invalid_argument);
    }
}

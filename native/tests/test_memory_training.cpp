// Memory that ends while chunks are counted, spilled and merged, and while models are trained.
#include <array>
#include <cstdio>
#include <map>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "counting/chunk_counter.hpp"
#include "counting/counted_stream.hpp"
#include "counting/word_counter.hpp"
#include "failing_memory.hpp"
#include "kit.hpp"
#include "training/bpe/trainer.hpp"
#include "training/unigram/trainer.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

using Counts = std::map<std::string, std::uint64_t>;

struct TemporaryFile {
    std::FILE* file = std::tmpfile();
    ~TemporaryFile() { std::fclose(file); }
    int descriptor() const { return ::fileno(file); }
};

std::string text_of_words(std::size_t size) {
    Random random{3};
    std::string text;
    while (size-- > 0) {
        text += ' ';
        for (std::size_t left = 1 + random.below(random.below(9) ? 5 : 30); left > 0; --left)
            text += static_cast<char>('a' + random.below(4));
        if (random.below(30) == 0) text += "\xC3\xA9\n";
    }
    return text;
}

void add(Counts& counts, const std::uint8_t* bytes, std::size_t size, std::uint64_t count) {
    counts[std::string(reinterpret_cast<const char*>(bytes), size)] += count;
}

Counts merged(SpilledCounts& spilled) {
    spilled.merge(1, 1, 1 << 14);
    Counts counts;
    spilled.visit([&](const Record& each) { add(counts, each.bytes, each.size, each.count); });
    return counts;
}

template <typename Work>
bool is_refused(const Work& work) {
    try {
        work();
    } catch (const std::logic_error&) {
        return true;
    }
    return false;
}

// Words of `letters` symbols.
struct Words {
    std::vector<Id> symbols;
    std::vector<std::uint64_t> ends, counts;

    Words(std::size_t words, std::size_t letters) {
        Random random{17};
        for (std::size_t i = 0; i < words; ++i) {
            for (std::size_t left = 1 + random.below(i % 40 ? 9 : 80); left > 0; --left)
                symbols.push_back(static_cast<Id>(random.below(letters)));
            ends.push_back(symbols.size());
            counts.push_back(1 + random.below(5));
        }
    }
    bpe::CountedSymbols counted() const { return {symbols.data(), ends, counts}; }
};

constexpr std::size_t kLetters = 5;

// Trains with each allocation failing in turn. No result may come of it, or the right one.
template <typename Train>
void fail_each_of(const Train& train, std::size_t dense = 200) {
    const auto expected = train().merges;
    CHECK(expected.size() > 10);
    std::vector<bpe::MergeRule> found;
    const std::size_t allocations =
        fail_each_allocation([&] { found.clear(); }, [&] { found = train().merges; },
                             [&] { CHECK(found.empty() || same(found, expected)); }, dense);
    CHECK(allocations > 10 && same(found, expected));
}

bool alike(const unigram::Pieces& a, const unigram::Pieces& b) {
    return std::ranges::equal(a.pieces, b.pieces, [&](const auto& x, const auto& y) {
        return x.length == y.length && x.score == y.score &&
               std::equal(a.text.begin() + x.place, a.text.begin() + x.place + x.length,
                          b.text.begin() + y.place);
    });
}

}  // namespace

TEST(memory_ends_while_counts_are_spilled_and_merged) {
    const std::string text = text_of_words(1500);
    const Bytes bytes = bytes_of(text);
    const TemporaryFile file;
    std::optional<ChunkCounter> counter;
    const auto make = [&] {
        counter.emplace(family_named("gpt2"), isa::best());
        counter->limit(1 << 12, file.descriptor());
    };
    make();
    counter->add({text_of(bytes)}, 1);
    CHECK(counter->spilled_bytes() > 0);
    const Counts once = merged(*counter->spilled());
    // While chunks are added: the counter can be used on, and no chunk is lost or counted twice.
    const auto count = [&] { counter->add({text_of(bytes)}, 1); };
    const std::size_t failures = fail_each_allocation(make, count, [&] {
        count();
        const Counts found = merged(*counter->spilled());
        CHECK(found.size() == once.size());
        for (const auto& [chunk, times] : found) {
            const std::uint64_t whole = once.at(chunk);
            CHECK(times >= whole && times <= 2 * whole, chunk);
        }
    });
    CHECK(failures > 20);
    // While they are merged: the counts are right, or cannot be used.
    fail_each_allocation(
        [&] { make(), count(); }, [&] { counter->spilled()->merge(1, 1, 1 << 14); },
        [&] {
            CHECK(counter->spilled());
            Counts found;
            CHECK(is_refused([&] { found = merged(*counter->spilled()); }) || found == once);
        });
}

TEST(memory_ends_while_words_are_spilled) {
    const std::string text = text_of_words(1500);
    const Bytes bytes = bytes_of(text);
    const TemporaryFile chunks, plain;
    std::optional<WordCounter> counter;
    const auto make = [&] {
        counter.emplace(WordCounter::Options{});
        counter->limit(1 << 16, chunks.descriptor(), plain.descriptor());
    };
    make();
    counter->add({text_of(bytes)}, 1);
    CHECK(counter->spilled_bytes() > 0);
    const Counts once = merged(counter->spilled()->chunks);
    const auto count = [&] { counter->add({text_of(bytes)}, 1); };
    fail_each_allocation(make, count, [&] {
        count();
        const Counts found = merged(counter->spilled()->chunks);
        for (const auto& [chunk, times] : once)
            CHECK(found.at(chunk) >= times && found.at(chunk) <= 2 * times, chunk);
    });
    fail_each_allocation(
        [&] { make(), count(); }, [&] { counter->spilled()->chunks.merge(1, 1, 1 << 14); },
        [&] {
            CHECK(counter->spilled());
            Counts found;
            CHECK(is_refused([&] { found = merged(counter->spilled()->chunks); }) || found == once);
        },
        200);
}

namespace {

// Calls finish() with each allocation failing in turn. After a failure, the counter is unusable:
// a part of the counts must not pass for all of them.
template <typename Counter, typename... Arguments>
void fail_each_of_finish(const Arguments&... arguments) {
    const Bytes bytes = bytes_of(text_of_words(300));
    std::optional<Counter> counter;
    const std::size_t allocations = fail_each_allocation(
        [&] { counter.emplace(arguments...).add({text_of(bytes)}, 1); }, [&] { counter->finish(); },
        [&](bool threw) {
            CHECK(threw && is_refused([&] { counter->finish(); }));
            CHECK(is_refused([&] { counter->add({text_of(bytes)}, 1); }));
        });
    CHECK(allocations > 5);
}

}  // namespace

TEST(counts_are_refused_if_memory_ended_while_they_were_finished) {
    fail_each_of_finish<ChunkCounter>(family_named("gpt2"), isa::best());
    fail_each_of_finish<WordCounter>(WordCounter::Options{});
}

TEST(memory_ends_while_counts_are_read_in_batches) {
    const Bytes bytes = bytes_of(text_of_words(300));
    ChunkCounter counter(family_named("gpt2"), isa::best());
    counter.add({text_of(bytes)}, 1);
    CountedStream stream(counter.finish(), 1);
    stream.next(50, 1 << 10);
    {
        const FailingAllocation failing(3);
        CHECK_THROWS(stream.next(50, 1 << 10), std::bad_alloc);
    }
    CHECK(is_refused([&] { stream.next(50, 1 << 10); }));  // some chunks are lost
}

TEST(memory_ends_while_stored_chunks_are_trained_on) {
    const Words words(80, kLetters);
    const TemporaryFile file;
    for (const std::size_t memory : {std::size_t{1} << 12, ~std::size_t{0}}) {
        for (const std::size_t threads : {1, 2}) {
            const bpe::TrainingOptions options{.tokens = 12,
                                               .sharing = {.threads = threads, .least = 1}};
            fail_each_of([&] {
                bpe::ChunkStore store(300, file.descriptor());
                store.add(words.counted());
                return bpe::train(store, {.size = kLetters}, options, memory, {});
            });
            fail_each_of([&] {
                bpe::ChunkStore store(300, file.descriptor());
                store.add(words.counted());
                return bpe::train_likelihood(store, kLetters, 12, 1, options.sharing, memory, {});
            });
        }
    }
    fail_each_of([&] {
        const std::vector<bpe::PieceTraits> alphabet(kLetters, {.first = 2, .last = 2});
        bpe::ChunkStore store(300, file.descriptor());
        store.add(words.counted());
        return bpe::train_pieces(store, alphabet, {.longest = 7}, 12, {}, 1 << 12, {});
    });
}

TEST(memory_ends_while_pieces_are_trained) {
    const Words words(200, kLetters);
    for (const std::size_t threads : {1, 2}) {
        const bpe::Sharing sharing{.threads = threads, .least = 1};
        fail_each_of([&] {
            const std::vector<bpe::PieceTraits> alphabet(kLetters, {.first = 2, .last = 2});
            return bpe::train_pieces(words.counted(), 0, alphabet, {.longest = 7}, 40, sharing, {});
        });
    }
}

TEST(a_store_that_lacks_a_part_refuses_to_train) {
    const Words words(300, kLetters);
    std::size_t refused = 0;
    std::optional<bpe::ChunkStore> store;
    const auto add = [&] { store->add(words.counted()); };
    const auto train = [&] { bpe::train(*store, {.size = kLetters}, {.tokens = 9}, 0, {}); };
    fail_each_allocation([&] { store.emplace(0, -1); }, add,
                         [&](bool threw) {
                             if (!threw) return;  // memory that could be done without
                             CHECK(is_refused(train));
                             CHECK(is_refused(add));
                             ++refused;
                         });
    CHECK(refused > 3);
    train();
    CHECK(is_refused(train));  // its chunks were merged
}

TEST(memory_ends_while_unigram_trains) {
    const Words words(150, kLetters);
    const std::vector<bpe::PieceTraits> alphabet(kLetters, {.first = 2, .last = 2});
    const unigram::TrainingOptions options{.seeds = 60, .enough = 20};
    const TemporaryFile file;
    const unigram::WordStore::Options in_memory{.rules = {.longest = 6}};
    unigram::WordStore::Options on_threads = in_memory, in_file = in_memory;
    on_threads.threads = 2;
    in_file.memory = 1 << 12;
    in_file.descriptor = file.descriptor();
    for (const unigram::WordStore::Options& where : {in_memory, on_threads, in_file}) {
        std::optional<unigram::WordStore> store;
        const auto train = [&] {
            store.emplace(alphabet, where);
            store->add(words.counted());
            store->finish();
            return unigram::train(*store, options, nullptr, {}, {});
        };
        const unigram::Pieces expected = train();
        unigram::Pieces found;
        const auto train_again = [&] { unigram::train(*store, options, nullptr, {}, {}); };
        const std::size_t allocations = fail_each_allocation(
            [&] {
                found = {};
                store.reset();
            },
            [&] { found = train(); },
            [&] {
                CHECK(found.pieces.empty() || alike(found, expected));
                if (store) CHECK(is_refused([&] { store->finish(), train_again(); }));
            });
        CHECK(allocations > 10 && alike(found, expected));
        CHECK(is_refused(train_again));
    }
}

#if TOKSMITH_FAILING_THREADS
namespace {

// Calls work(threads) with more threads than can be started. Its result is that of one thread.
template <typename Work>
void do_without_threads(const char* name, const Work& work) {
    const auto expected = work(1);
    for (const std::size_t most : {0, 1, 2}) {
        const MostThreads limit(most);
        CHECK(work(4) == expected, name);
    }
}

std::vector<std::array<Id, 3>> rules(const std::vector<bpe::MergeRule>& merges) {
    std::vector<std::array<Id, 3>> found;
    for (const bpe::MergeRule& each : merges) found.push_back({each.left, each.right, each.id});
    CHECK(found.size() > 5);
    return found;
}

}  // namespace

TEST(counting_does_without_threads_that_do_not_start) {
    std::string text;
    for (int i = 0; i < 400; ++i) text += text_of_words(1500);  // several pieces
    const Bytes bytes = bytes_of(text);
    const auto counts = [](const DistinctChunks& chunks) {
        Counts found;
        for (const DistinctChunks::Entry& each : chunks.entries())
            add(found, each.bytes(), each.size(), each.count);
        return found;
    };
    do_without_threads("chunks", [&](std::size_t threads) {
        ChunkCounter counter(family_named("gpt2"), isa::best());
        counter.add({text_of(bytes)}, threads);
        return counts(counter.finish());
    });
    do_without_threads("words", [&](std::size_t threads) {
        WordCounter counter(WordCounter::Options{});
        counter.add({text_of(bytes)}, threads);
        return counts(counter.finish().chunks);
    });
    const TemporaryFile file;
    do_without_threads("spilled", [&](std::size_t threads) {
        ChunkCounter counter(family_named("gpt2"), isa::best());
        counter.limit(1 << 12, file.descriptor());
        counter.add({text_of(bytes)}, threads);
        SpilledCounts& spilled = *counter.spilled();
        spilled.merge(1, 1, 1 << 14);
        Counts found;
        spilled.visit([&](const Record& each) { add(found, each.bytes, each.size, each.count); });
        return found;
    });
}

TEST(training_does_without_threads_that_do_not_start) {
    const Words words(3000, kLetters);
    const std::vector<bpe::PieceTraits> alphabet(kLetters, {.first = 2, .last = 2});
    const TemporaryFile file;
    for (const std::size_t memory : {std::size_t{1} << 12, ~std::size_t{0}}) {
        do_without_threads("stored chunks", [&](std::size_t threads) {
            bpe::ChunkStore store(300, file.descriptor());
            store.add(words.counted());
            const bpe::TrainingOptions options{.tokens = 20,
                                               .sharing = {.threads = threads, .least = 1}};
            return rules(bpe::train(store, {.size = kLetters}, options, memory, {}).merges);
        });
        do_without_threads("likelihood", [&](std::size_t threads) {
            bpe::ChunkStore store(300, file.descriptor());
            store.add(words.counted());
            return rules(bpe::train_likelihood(store, kLetters, 40, 1,
                                               {.threads = threads, .least = 1}, memory, {})
                             .merges);
        });
    }
    do_without_threads("pieces", [&](std::size_t threads) {
        const bpe::Sharing sharing{.threads = threads, .least = 1};
        return rules(
            bpe::train_pieces(words.counted(), 0, alphabet, {.longest = 7}, 40, sharing, {})
                .merges);
    });
    do_without_threads("unigram", [&](std::size_t threads) {
        unigram::WordStore::Options options{.rules = {.longest = 6}};
        options.threads = threads;
        unigram::WordStore store(alphabet, options);
        store.add(words.counted());
        store.finish();
        const unigram::Pieces found =
            unigram::train(store, {.seeds = 200, .enough = 60}, nullptr, {}, {});
        std::vector<std::pair<std::vector<Id>, double>> pieces;
        for (const auto& each : found.pieces) {
            const auto start = found.text.begin() + each.place;
            pieces.emplace_back(std::vector<Id>(start, start + each.length), each.score);
        }
        CHECK(pieces.size() > kLetters, std::to_string(pieces.size()));
        return pieces;
    });
}
#endif

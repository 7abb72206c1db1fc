// Counting chunks and training on them.
#include "kit.hpp"
#include "train/counter.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Corpus {
    Bytes bytes;
    bpe::CountedChunks chunks;

    void add(std::string_view chunk, std::uint64_t count) {
        bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        chunks.symbols = bytes.data();
        chunks.ends.push_back(bytes.size());
        chunks.counts.push_back(count);
    }
};

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

Counts counts_of(ChunkCounter& counter) {
    const ChunkTable table = counter.finish();
    Counts counts;
    for (const ChunkTable::Entry& entry : table.entries()) {
        const auto* bytes = reinterpret_cast<const char*>(table.bytes(entry));
        counts.emplace_back(std::string(bytes, entry.size), entry.count);
    }
    return counts;
}

using List = std::vector<std::uint64_t>;

}  // namespace

TEST(train_literals) {
    Corpus corpus;
    corpus.add("aaabdaaabac", 1);
    const auto first = bpe::train(corpus.chunks, {.tokens = 3}, {});
    CHECK(same(first.merges, {{'a', 'a', 256}, {256, 'a', 257}, {257, 'b', 258}}));
    CHECK(first.counts == List({4, 2, 2}) && first.tokens == List({9, 7, 5}));
    const auto smallest =
        bpe::train(corpus.chunks, {.tokens = 3, .ties = bpe::Ties::kSmallestPair}, {});
    CHECK(same(smallest.merges, {{'a', 'a', 256}, {'a', 'b', 257}, {256, 257, 258}}));
    const auto frequent = bpe::train(corpus.chunks, {.tokens = 9, .min_frequency = 3}, {});
    CHECK(frequent.merges.size() == 1);
    const auto limited = bpe::train(corpus.chunks, {.tokens = 9, .max_token_length = 2}, {});
    CHECK(same(limited.merges, {{'a', 'a', 256}, {'a', 'b', 257}, {'a', 'c', 258}}));
    CHECK(limited.tokens == List({9, 7, 6}));
    const auto stopped = bpe::train(corpus.chunks, {.tokens = 9},
                                    [](const bpe::MergeRule& rule, auto) { return rule.id < 257; });
    CHECK(stopped.merges.size() == 2);
    CHECK(bpe::train({}, {.tokens = 5}, {}).merges.empty());
}

TEST(train_smallest_pair_goes_by_the_byte_alphabet) {
    Corpus corpus;
    corpus.add(" b", 1);
    corpus.add("zz", 1);
    const auto trained =
        bpe::train(corpus.chunks, {.tokens = 2, .ties = bpe::Ties::kSmallestPair}, {});
    CHECK(same(trained.merges, {{'z', 'z', 256}, {' ', 'b', 257}}));
}

TEST(train_equals_counting_anew) {
    Random random{6};
    for (int round = 0; round < 150; ++round) {
        Corpus corpus;
        const std::size_t letters = 1 + random.below(4);
        for (std::size_t chunk = random.below(12); chunk-- > 0;) {
            std::string text(random.below(30), ' ');
            for (char& c : text) c = static_cast<char>('a' + random.below(letters));
            corpus.add(text, 1 + random.below(3));
        }
        const auto trained = bpe::train(corpus.chunks, {.tokens = 50}, {});
        CHECK(same(trained.merges, trained_slowly(corpus.chunks, 50)));
    }
}

TEST(count_literals) {
    const Bytes text = bytes_of("a b a b"), more = bytes_of("c b");
    ChunkCounter counter(Family::kGpt2, isa::best());
    counter.add({text_of(text), text_of(more)}, 2);
    const Bytes given = bytes_of("zz");
    counter.add_chunks({text_of(given), text_of(Bytes())}, {9, 1});
    CHECK(counts_of(counter) == Counts({{"a", 1}, {" b", 3}, {" a", 1}, {"c", 1}, {"zz", 9}}));
    ChunkCounter empty(Family::kGpt2, isa::best());
    CHECK(counts_of(empty).empty());
}

TEST(count_is_the_same_on_any_number_of_threads) {
    Random random{7};
    Bytes text;
    while (text.size() < 2'700'000) {
        const Bytes page = random_text(random, 3000);
        text.insert(text.end(), page.begin(), page.end());
    }
    Counts expected;
    for (const isa::Level level : levels()) {
        for (std::size_t threads = 1; threads <= 4; ++threads) {
            ChunkCounter counter(Family::kCl100k, level);
            counter.add({text_of(text)}, threads);
            const Counts counts = counts_of(counter);
            if (expected.empty()) expected = counts;
            CHECK(counts == expected);
        }
    }
    std::string joined;
    std::uint64_t total = 0;
    for (const auto& [chunk, count] : expected) total += chunk.size() * count;
    CHECK(total == text.size());
}

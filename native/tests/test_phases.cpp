// Training in phases against training on all chunks at once.
#include <cstdio>
#include <string>

#include "kit.hpp"
#include "training/bpe/trainer.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Words {
    std::vector<Id> symbols;
    std::vector<std::uint64_t> ends, counts;
    bpe::CountedSymbols counted() const { return {symbols.data(), ends, counts}; }
};

// Random words of `letters` symbols, most of them short, a few frequent.
Words random_words(Random& random, std::size_t words, std::size_t letters) {
    Words result;
    for (std::size_t i = 0; i < words; ++i) {
        const std::size_t size = random.below(i % 200 ? 14 : 400);
        for (std::size_t k = 0; k < size; ++k) {
            result.symbols.push_back(static_cast<Id>(random.below(1 + random.below(letters))));
        }
        result.ends.push_back(result.symbols.size());
        result.counts.push_back(i % 30 ? 1 + random.below(4)
                                       : std::uint64_t{1} << random.below(30));
    }
    return result;
}

bool alike(const bpe::Training& a, const bpe::Training& b) {
    return same(a.merges, b.merges) && a.counts == b.counts && a.tokens == b.tokens;
}

struct TemporaryFile {
    std::FILE* file = std::tmpfile();
    ~TemporaryFile() { std::fclose(file); }
    int descriptor() const { return ::fileno(file); }
};

bpe::Training likely(const Words& words, std::size_t letters, const TemporaryFile& file,
                     std::size_t tokens, std::uint64_t least, std::size_t threads,
                     std::size_t memory) {
    bpe::ChunkStore store(1000, file.descriptor());
    store.add(words.counted());
    return bpe::train_likelihood(store, letters, tokens, least, {.threads = threads, .least = 1},
                                 memory, {});
}

}  // namespace

TEST(phases_learn_the_same_merges) {
    Random random{21};
    for (const std::size_t letters : {2, 5, 40, 300}) {
        const Words words = random_words(random, 3000, letters);
        for (const std::size_t memory : {std::size_t{1} << 14, std::size_t{1} << 17}) {
            for (const std::size_t threads : {1, 3}) {
                const TemporaryFile file;
                for (const bpe::Ties ties : {bpe::Ties::kFirstSeen, bpe::Ties::kSmallestPair}) {
                    const bpe::TrainingOptions options{
                        .tokens = 400, .ties = ties, .sharing = {.threads = threads, .least = 1}};
                    bpe::ChunkStore store(1000, file.descriptor());
                    store.add(words.counted());
                    const auto phases = bpe::train(store, {.size = letters}, options, memory, {});
                    const auto whole = bpe::train(words.counted(), {.size = letters}, options, {});
                    CHECK(alike(phases, whole));
                }
                // Within the smaller memory, most pairs are merged alone, which takes longer.
                const std::size_t tokens = memory >> 11;
                const auto learned = [&](std::size_t some_threads, std::size_t some_memory) {
                    return likely(words, letters, file, tokens, 1 + letters % 4, some_threads,
                                  some_memory);
                };
                CHECK(alike(learned(threads, memory), learned(1, ~std::size_t{0})));
                const std::vector<bpe::PieceTraits> alphabet(letters, {.first = 2, .last = 2});
                bpe::ChunkStore store(1000, file.descriptor());
                store.add(words.counted());
                const auto phases =
                    bpe::train_pieces(store, alphabet, {.longest = 7}, 400, {threads}, memory, {});
                const auto whole = bpe::train_pieces(words.counted(), 0, alphabet, {.longest = 7},
                                                     400, {threads}, {});
                CHECK(alike(phases, whole));
            }
        }
    }
}

// Trains on chunks cut out of the input, with random options, and compares with recounting all
// pairs after each merge.
#include "fuzz.hpp"

using namespace toksmith;
using namespace toksmith::test;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 300);
    Random& random = input.random;
    const std::size_t letters = random.below(2) ? 256 : 1 + random.below(4);
    for (std::uint8_t& byte : input.text) byte = static_cast<std::uint8_t>(byte % letters);
    std::vector<std::uint64_t> ends, counts;
    for (std::uint64_t end = 0; end < input.text.size();) {
        end += random.below(std::min<std::size_t>(input.text.size() - end, 30) + 1);
        ends.push_back(end);
        counts.push_back(1 + random.below(5));
    }
    const bpe::CountedChunks chunks{input.text.data(), ends, counts};
    const std::size_t tokens = random.below(60);
    const auto plain = bpe::train(chunks, {.tokens = tokens}, {});
    CHECK(same(plain.merges, trained_slowly(chunks, tokens)));

    bpe::TrainingOptions options{.tokens = tokens};
    options.ties = random.below(2) ? bpe::Ties::kSmallestPair : bpe::Ties::kFirstSeen;
    options.min_frequency = random.below(6);
    options.max_token_length = random.below(6);
    options.sharing = {.threads = some_threads(random), .least = 1 + random.below(9)};
    const auto trained = bpe::train(chunks, options, {});
    if (random.below(4) == 0) {  // slow
        bpe::ChunkStore store(0, -1);
        store.add(chunks);
        options.ties = bpe::Ties::kFirstSeen;
        const auto phases = bpe::train(store, {.size = 256}, options, random.below(3) << 12, {});
        const auto whole = bpe::train(chunks, options, {});
        CHECK(same(phases.merges, whole.merges) && phases.tokens == whole.tokens);
    }
    if (random.below(16) == 0) {  // takes a second for many tokens
        const auto likely = [&](std::size_t memory) {
            bpe::ChunkStore words(0, -1);
            words.add(chunks);
            return bpe::train_likelihood(words, 256, std::min<std::size_t>(tokens, 9),
                                         options.min_frequency, options.sharing, memory, {});
        };
        const auto in_phases = likely(random.below(3) << 12), whole = likely(1 << 20);
        CHECK(same(in_phases.merges, whole.merges) && in_phases.tokens == whole.tokens);
    }
    std::vector<std::size_t> lengths(256, 1);
    std::uint64_t last = ~std::uint64_t{0};
    for (std::size_t i = 0; i < trained.merges.size(); ++i) {
        const bpe::MergeRule& rule = trained.merges[i];
        lengths.push_back(lengths[rule.left] + lengths[rule.right]);
        CHECK(rule.id == 256 + i && trained.counts[i] >= options.min_frequency);
        CHECK(options.max_token_length == 0 || lengths.back() <= options.max_token_length);
        CHECK(trained.tokens[i] < last);
        last = trained.tokens[i];
    }
    return 0;
}

// Trains pieces of words that are cut out of the input, by SentencePiece's criterion, and compares
// with recounting all valid pairs after each merge; with words cut into segments, on several
// threads, and from a store, in phases.
#include "fuzz.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Words {
    std::vector<Id> symbols;
    std::vector<std::uint64_t> ends, counts;
    bpe::CountedSymbols counted() const { return {symbols.data(), ends, counts}; }
};

// Each merge is of a valid pair that has most occurrences, and merges end when no pair is left.
void check_slowly(const Words& words, const std::vector<bpe::PieceTraits>& alphabet,
                  const bpe::PieceRules& rules, const bpe::Training& trained, std::size_t tokens) {
    std::vector<bpe::PieceTraits> traits = alphabet;
    std::vector<std::vector<Id>> parts;
    std::uint64_t start = 0;
    for (const std::uint64_t end : words.ends) {
        parts.emplace_back(words.symbols.begin() + static_cast<std::ptrdiff_t>(start),
                           words.symbols.begin() + static_cast<std::ptrdiff_t>(end));
        start = end;
    }
    for (std::size_t i = 0;; ++i) {
        std::map<std::pair<Id, Id>, std::uint64_t> counts;
        std::uint64_t most = 0;
        for (std::size_t word = 0; word < parts.size(); ++word) {
            for (std::size_t k = 0; k + 1 < parts[word].size(); ++k) {
                const Id left = parts[word][k], right = parts[word][k + 1];
                if (!rules.allow(traits[left], traits[right])) continue;
                std::uint64_t& count = counts[{left, right}];
                count += words.counts[word];
                most = std::max(most, count);
            }
        }
        if (i == trained.merges.size()) {
            CHECK(i == tokens || counts.empty());
            return;
        }
        const bpe::MergeRule& rule = trained.merges[i];
        CHECK(trained.counts[i] == most);
        CHECK(counts[std::pair(rule.left, rule.right)] == most);
        CHECK(rule.id == traits.size());
        traits.push_back(bpe::joined(traits[rule.left], traits[rule.right]));
        for (std::vector<Id>& part : parts) join(part, rule);
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 300);
    Random& random = input.random;
    const std::size_t letters = 1 + random.below(6);
    const std::vector<bpe::PieceTraits> alphabet = some_characters(random, letters);
    const bpe::PieceRules rules{1 + random.below(20), random.below(2) == 0, random.below(2) == 0,
                                random.below(2) == 0, random.below(2) == 0, random.below(2) == 0};
    const std::size_t tokens = random.below(50), memory = random.below(3) << 12;
    const bpe::Sharing sharing{.threads = some_threads(random), .least = 1 + random.below(9)};
    Words words;
    for (const std::uint8_t byte : input.text)
        words.symbols.push_back(static_cast<Id>(byte % letters));
    for (std::uint64_t end = 0; end < words.symbols.size();) {
        end += random.below(std::min<std::size_t>(words.symbols.size() - end, 30) + 1);
        words.ends.push_back(end);
        words.counts.push_back(1 + random.below(5));
    }
    const std::size_t cut = random.below(words.ends.size() + 1);

    const auto whole =
        bpe::train_pieces(words.counted(), words.ends.size(), alphabet, rules, tokens, {}, {});
    check_slowly(words, alphabet, rules, whole, tokens);
    const auto parts =
        bpe::train_pieces(words.counted(), cut, alphabet, rules, tokens, sharing, {});
    CHECK(same(parts.merges, whole.merges) && parts.counts == whole.counts);
    if (random.below(4) == 0) {  // slow
        bpe::ChunkStore store(0, -1);
        store.add(words.counted());
        const auto phases = bpe::train_pieces(store, alphabet, rules, tokens, sharing, memory, {});
        CHECK(same(phases.merges, whole.merges) && phases.counts == whole.counts);
    }
    return 0;
}

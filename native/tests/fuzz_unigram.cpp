// Trains Unigram on words cut out of the input, with random options, on one thread and on several.
#include <cmath>
#include <set>

#include "fuzz.hpp"
#include "training/unigram/trainer.hpp"

using namespace toksmith;
using namespace toksmith::test;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    if (input.text.empty()) return 0;
    const std::size_t letters = 1 + random.below(6);
    std::vector<bpe::PieceTraits> alphabet;
    for (std::size_t i = 0; i < letters; ++i) {
        const auto script = static_cast<std::uint16_t>(random.below(4));
        const bool space = random.below(5) == 0;
        alphabet.push_back({.first = script,
                            .last = script,
                            .spaces = space,
                            .starts_with_space = space,
                            .ends_with_space = space,
                            .has_digit = random.below(5) == 0});
    }
    std::vector<Id> symbols;
    for (const std::uint8_t byte : input.text) symbols.push_back(static_cast<Id>(byte % letters));
    std::vector<std::uint64_t> ends, counts;
    while (ends.empty() || ends.back() < symbols.size()) {
        const std::uint64_t end = ends.empty() ? 0 : ends.back();
        ends.push_back(end + 1 + random.below(std::min<std::size_t>(symbols.size() - end, 30)));
        counts.push_back(1 + random.below(9));
    }
    unigram::TrainingOptions options{
        .seeds = 1 + random.below(300),
        .enough = random.below(60),
        .shrinking_factor = 0.05 + 0.9 * static_cast<double>(random.below(100)) / 100,
        .sub_iterations = random.below(4),
        .threads = 1,
        .rules = {1 + random.below(20), random.below(2) == 0, random.below(2) == 0,
                  random.below(2) == 0, random.below(2) == 0, random.below(2) == 0}};
    const unigram::CountedWords words =
        unigram::cut_words({symbols.data(), ends, counts}, alphabet, options.rules);
    const auto ignore = [](const unigram::Progress&) {};
    const auto [spellings, pieces] = unigram::train(words, options, ignore);
    std::set<std::vector<std::uint32_t>> spelled;
    for (const unigram::Piece& piece : pieces) {
        CHECK(piece.length >= 1 && piece.place + piece.length <= spellings.size());
        const auto begin = spellings.begin() + piece.place;
        const std::vector<std::uint32_t> text(begin, begin + piece.length);
        CHECK(std::ranges::count(text, 0u) == 0);
        CHECK(piece.length == 1 || piece.length <= options.rules.longest);
        CHECK(std::isfinite(piece.score));
        CHECK(spelled.insert(text).second);
    }
    options.threads = 3;
    const auto again = unigram::train(words, options, ignore);
    CHECK(std::ranges::equal(pieces, again.pieces, [](const auto& a, const auto& b) {
        return a.place == b.place && a.length == b.length && a.score == b.score;
    }));
    return 0;
}

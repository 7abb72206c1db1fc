// Trains Unigram on words cut out of the input, with random options: on one thread and on several,
// in memory and in a file, from the start and from each kept state.
#include <cmath>
#include <cstdio>
#include <memory>
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
    const unigram::TrainingOptions options{
        .seeds = 1 + random.below(300),
        .enough = random.below(60),
        .shrinking_factor = 0.05 + 0.9 * static_cast<double>(random.below(100)) / 100,
        .sub_iterations = random.below(4)};
    const bpe::PieceRules rules{1 + random.below(20), random.below(2) == 0, random.below(2) == 0,
                                random.below(2) == 0, random.below(2) == 0, random.below(2) == 0};
    std::vector<unigram::State> states;
    const auto keep = [&](std::size_t rounds, const std::vector<std::uint32_t>& text,
                          const std::vector<unigram::Piece>& all) {
        states.push_back({rounds, {text, {all.begin() + 1, all.end()}}});
    };
    const auto learn = [&](const unigram::WordStore::Options& where, const unigram::State* start,
                           const unigram::Keep& kept) {
        unigram::WordStore words(alphabet, where);
        words.add({symbols.data(), ends, counts});
        words.finish();
        return unigram::train(words, options, start, {}, kept);
    };
    const auto [spellings, pieces] = learn({.rules = rules}, nullptr, keep);
    std::set<std::vector<std::uint32_t>> spelled;
    for (const unigram::Piece& piece : pieces) {
        CHECK(piece.length >= 1 && piece.place + piece.length <= spellings.size());
        const auto begin = spellings.begin() + piece.place;
        const std::vector<std::uint32_t> text(begin, begin + piece.length);
        CHECK(std::ranges::count(text, 0u) == 0);
        CHECK(piece.length == 1 || piece.length <= rules.longest);
        CHECK(std::isfinite(piece.score));
        CHECK(spelled.insert(text).second);
    }
    const auto check_same = [&](const unigram::Pieces& again) {
        CHECK(std::ranges::equal(pieces, again.pieces, [&](const auto& a, const auto& b) {
            return a.length == b.length && a.score == b.score &&
                   std::equal(spellings.begin() + a.place, spellings.begin() + a.place + a.length,
                              again.text.begin() + b.place);
        }));
    };
    check_same(learn({.rules = rules, .threads = 3}, nullptr, {}));
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::tmpfile(), std::fclose);
    CHECK(file != nullptr);
    unigram::WordStore::Options in_file{.rules = rules,
                                        .threads = 1 + random.below(2),
                                        .memory = random.below(4) << 11,
                                        .descriptor = fileno(file.get())};
    check_same(learn(in_file, nullptr, {}));
    in_file.has_pieces = true;
    for (const unigram::State& state : states) check_same(learn(in_file, &state, {}));
    return 0;
}

// Trains Unigram on words cut out of the input, with random options: on one thread and on several,
// in memory and in a file, from the start, from a kept state, and from a damaged one.
#include <cmath>
#include <cstdio>
#include <set>
#include <stdexcept>

#include "fuzz.hpp"
#include "training/unigram/trainer.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// A state as a damaged checkpoint may hold it: characters may have no piece, and pieces may repeat.
unigram::State random_state(Random& random, std::size_t letters, std::size_t longest) {
    unigram::State state{random.below(4), {}};
    auto& [text, pieces] = state.pieces;
    for (std::size_t i = random.below(40); i > 0; --i) {
        const auto place = static_cast<std::uint32_t>(text.size());
        const auto length = static_cast<std::uint32_t>(1 + random.below(longest));
        for (std::uint32_t k = 0; k < length; ++k)
            text.push_back(static_cast<std::uint32_t>(1 + random.below(letters)));
        static constexpr double kOdd[] = {-100, -1e300, 1, -HUGE_VAL, HUGE_VAL, NAN};
        const double score = random.below(64) ? -static_cast<double>(random.below(99))
                                              : kOdd[random.below(std::size(kOdd))];
        pieces.push_back({place, length, score});
    }
    return state;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 300);
    Random& random = input.random;
    if (input.text.empty()) return 0;
    const std::size_t letters = 1 + random.below(6);
    const std::vector<bpe::PieceTraits> alphabet = some_characters(random, letters);
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
    if (const std::size_t threads = some_threads(random); threads > 1)
        check_same(learn({.rules = rules, .threads = threads}, nullptr, {}));
    static std::FILE* const file = std::tmpfile();
    CHECK(file != nullptr);
    unigram::WordStore::Options in_file{.rules = rules,
                                        .threads = some_threads(random),
                                        .memory = random.below(4) << 11,
                                        .descriptor = fileno(file)};
    check_same(learn(in_file, nullptr, {}));
    in_file.has_pieces = true;
    if (!states.empty()) check_same(learn(in_file, &states[random.below(states.size())], {}));
    if (random.below(4) == 0) {
        const unigram::State damaged = random_state(random, letters, rules.longest);
        try {
            const auto [text, kept] = learn(in_file, &damaged, {});
            for (const unigram::Piece& piece : kept)
                CHECK(piece.length >= 1 && piece.place + piece.length <= text.size());
        } catch (const std::invalid_argument&) {  // a score
        }
    }
    return 0;
}

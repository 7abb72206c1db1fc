#include "training/unigram/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/stop.hpp"
#include "training/unigram/lattices.hpp"

namespace toksmith::unigram {
namespace {

// Pieces with a lower expected count are dropped in each round.
constexpr double kLeastExpected = 0.5;

// The derivative of the logarithm of the gamma function, for x > 0.
double digamma(double x) {
    double result = 0;
    for (; x < 7; ++x) result -= 1 / x;
    const double y = 1 / ((x - 0.5) * (x - 0.5));
    const double series = y * (1.0 / 24 - y * (7.0 / 960 - y * (31.0 / 8064 - y * 127.0 / 30720)));
    return result + std::log(x - 0.5) + series;
}

// Computes scores from expected counts, and drops pieces with a count below kLeastExpected.
void reestimate(const std::vector<double>& expected, Seeds& seeds, const Workers& workers) {
    std::vector<std::uint8_t> dropped(expected.size());
    double total = 0;
    for (std::size_t piece = 1; piece < expected.size(); ++piece) {
        dropped[piece] = expected[piece] < kLeastExpected;
        if (!dropped[piece]) total += expected[piece];
    }
    const double whole = digamma(total);
    InterruptionPoints<4096> points;
    for (std::size_t piece = 1; piece < expected.size(); ++piece) {
        points.step();
        if (!dropped[piece]) seeds.pieces[piece].score = digamma(expected[piece]) - whole;
    }
    drop(dropped, seeds, workers);
}

}  // namespace

CountedWords spaced_apart(const bpe::Segments& words, std::vector<bpe::PieceTraits> alphabet) {
    if (words.symbols.size() + words.ends.size() >= std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("the distinct words come to 2^32 characters or more");
    }
    CountedWords result;
    result.text.reserve(words.symbols.size() + words.ends.size());
    result.counts = words.counts;
    result.alphabet = std::move(alphabet);
    std::size_t i = 0;
    InterruptionPoints<(1 << 16)> points;
    for (const std::uint64_t end : words.ends) {
        result.starts.push_back(static_cast<std::uint32_t>(result.text.size()));
        for (; i < end; ++i) {
            points.step();
            result.text.push_back(words.symbols[i] + 1);
        }
        result.text.push_back(0);
    }
    return result;
}

std::vector<Piece> train(const CountedWords& words, const TrainingOptions& options,
                         const Watch& watch) {
    Progress progress{};
    const Workers workers{std::max<std::size_t>(1, options.threads)};
    Seeds seeds = make_seeds(words, options, workers);
    for (;;) {
        for (std::size_t i = 0; i < options.sub_iterations; ++i) {
            const Expected expected = expect(words, seeds, workers);
            reestimate(expected.counts, seeds, workers);
            progress = {progress.rounds + 1, seeds.pieces.size() - 1, expected.log_likelihood};
            watch(progress);
        }
        const std::size_t size = seeds.pieces.size() - 1;
        if (size <= options.enough) break;
        const auto rest =
            static_cast<std::size_t>(options.shrinking_factor * static_cast<double>(size));
        drop(superfluous(words, seeds, std::max(options.enough, rest), workers), seeds, workers);
        if (seeds.pieces.size() - 1 == size) break;  // no piece can be dropped
    }
    return {seeds.pieces.begin() + 1, seeds.pieces.end()};
}

}  // namespace toksmith::unigram

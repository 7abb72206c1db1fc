#include "training/unigram/trainer.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/stop.hpp"
#include "training/unigram/suffixes.hpp"
#include "training/unigram/tries.hpp"

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

class Trainer {
 public:
    Trainer(CountedWords words, const TrainingOptions& options)
        : workers_{std::max<std::size_t>(1, options.threads)} {
        for (std::size_t word = 0; word < words.starts.size(); ++word) {
            characters_ += static_cast<double>(words.counts[word]) *
                           static_cast<double>(words.end(word) - words.starts[word]);
        }
        seeds_ = make_seeds(std::move(words), options, workers_);
    }

    std::size_t size() const { return seeds_.pieces.size() - 1; }

    // Runs one round of expectation and maximization. Returns the log-likelihood before it.
    double round() {
        const Expected expected = expect(seeds_, characters_, workers_);
        reestimate(expected.counts);
        return expected.log_likelihood;
    }

    void prune(std::size_t size) { drop(superfluous(seeds_, size, workers_), seeds_, workers_); }

    Pieces result() && {
        seeds_.pieces.erase(seeds_.pieces.begin());
        return {std::move(seeds_.spelled), std::move(seeds_.pieces)};
    }

 private:
    // Computes scores from expected counts, and drops pieces with a count below kLeastExpected.
    void reestimate(const std::vector<double>& expected) {
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
            if (!dropped[piece]) seeds_.pieces[piece].score = digamma(expected[piece]) - whole;
        }
        drop(dropped, seeds_, workers_);
    }

    const Workers workers_;
    double characters_ = 1;
    Seeds seeds_;
};

}  // namespace

Pieces train(CountedWords words, const TrainingOptions& options, const Watch& watch) {
    Trainer trainer(std::move(words), options);
    std::size_t rounds = 0;
    for (;;) {
        for (std::size_t i = 0; i < options.sub_iterations; ++i) {
            const double log_likelihood = trainer.round();
            watch({++rounds, trainer.size(), log_likelihood});
        }
        const std::size_t size = trainer.size();
        if (size <= options.enough) break;
        const auto rest =
            static_cast<std::size_t>(options.shrinking_factor * static_cast<double>(size));
        trainer.prune(std::max(options.enough, rest));
        if (trainer.size() == size) break;  // no piece can be dropped
    }
    return std::move(trainer).result();
}

}  // namespace toksmith::unigram

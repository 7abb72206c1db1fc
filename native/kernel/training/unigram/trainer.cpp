#include "training/unigram/trainer.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/stop.hpp"
#include "training/unigram/steps.hpp"
#include "training/unigram/tries.hpp"

namespace toksmith::unigram {
namespace {

// Pieces with a lower expected count are dropped in each round.
constexpr double kLeastExpected = 0.5;

// The score of a piece that occurs once in 2^61 characters is above it. With much lower scores, the
// probabilities of words would underflow.
constexpr double kLeastScore = -100;

void check_scores(const std::vector<Piece>& pieces) {
    InterruptionPoints<4096> points;
    for (const Piece& piece : pieces) {
        points.step();
        if (!(kLeastScore <= piece.score && piece.score <= 0))
            throw std::invalid_argument("the score of a piece is not between -100 and 0");
    }
}

// The derivative of the logarithm of the gamma function, for x > 0.
double digamma(double x) {
    double result = 0;
    for (; x < 7; ++x) result -= 1 / x;
    const double y = 1 / ((x - 0.5) * (x - 0.5));
    const double series = y * (1.0 / 24 - y * (7.0 / 960 - y * (31.0 / 8064 - y * 127.0 / 30720)));
    return result + std::log(x - 0.5) + series;
}

// The memory in bytes that a piece takes in the rounds, besides its characters, and for each
// thread.
constexpr std::size_t kOfPiece = 48, kOfPieceAndThread = 16;
// The memory for the blocks of tries that one thread holds.
constexpr std::size_t kOfThread = std::size_t{4} << 20;

class Trainer {
 public:
    Trainer(WordStore& words, const TrainingOptions& options, const State* start)
        : workers_{std::max<std::size_t>(1, words.options().threads)},
          characters_(words.characters()) {
        if (start) {
            seeds_.spelled = start->pieces.text;
            seeds_.pieces.push_back({0, 1, 0.0});
            seeds_.pieces.insert(seeds_.pieces.end(), start->pieces.pieces.begin(),
                                 start->pieces.pieces.end());
        } else {
            seeds_ = find_seeds(words, options, workers_);
        }
        const std::size_t longest = std::max<std::size_t>(words.options().rules.longest, 1);
        seeds_.format = {static_cast<unsigned>(std::bit_width(longest - 1))};
        if (seeds_.pieces.size() > seeds_.format.most_pieces()) {
            throw std::length_error(
                "too many seeds for this maximum piece length: use fewer seeds");
        }
        memory_ = words.file() ? words.options().memory : 0;
    }

    // Makes the tries, which all below needs.
    void begin(WordStore& words) {
        std::size_t blocks = memory_;
        if (memory_ > 0) {
            const std::size_t pieces = seeds_.pieces.size();
            const std::size_t fixed = pieces * kOfPiece + seeds_.spelled.size() * sizeof(Id);
            const std::size_t of_thread = pieces * kOfPieceAndThread + kOfThread;
            const std::size_t most = (memory_ - std::min(memory_, fixed)) / 2 / of_thread;
            workers_.threads = std::clamp<std::size_t>(most, 1, workers_.threads);
            blocks -= std::min(memory_, fixed + workers_.threads * of_thread);
        }
        write_tries(words, blocks, workers_, seeds_);
    }

    void keep(std::size_t rounds, const Keep& keep) const {
        if (keep) keep(rounds, seeds_.spelled, seeds_.pieces);
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

    Workers workers_;
    std::size_t memory_ = 0;
    const double characters_;
    Seeds seeds_;
};

}  // namespace

Pieces train(WordStore& words, const TrainingOptions& options, const State* start,
             const Watch& watch, const Keep& keep) {
    if (start) check_scores(start->pieces.pieces);
    words.begin();
    Trainer trainer(words, options, start);
    std::size_t rounds = start ? start->rounds : 0;
    if (!start) trainer.keep(rounds, keep);
    trainer.begin(words);
    for (;;) {
        for (std::size_t i = 0; i < options.sub_iterations; ++i) {
            const double log_likelihood = trainer.round();
            ++rounds;
            if (watch) watch({rounds, trainer.size(), log_likelihood});
        }
        const std::size_t size = trainer.size();
        if (size <= options.enough) break;
        const auto rest =
            static_cast<std::size_t>(options.shrinking_factor * static_cast<double>(size));
        trainer.prune(std::max(options.enough, rest));
        if (trainer.size() == size) break;  // no piece can be dropped
        trainer.keep(rounds, keep);
    }
    return std::move(trainer).result();
}

std::uint64_t least_memory(std::uint64_t pieces) {
    constexpr std::uint64_t kFindingPieces = 160;
    return pieces * kFindingPieces + 2 * kOfThread;
}

}  // namespace toksmith::unigram

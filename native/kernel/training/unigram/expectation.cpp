#include <algorithm>
#include <bit>
#include <cmath>

#include "base/stop.hpp"
#include "training/unigram/lattices.hpp"

namespace toksmith::unigram {
namespace {

// Probabilities of long words underflow a double. So each place has a scale: its probability is
// value · 2^(-256 · scale).
constexpr int kScaleBits = 256;
constexpr double kSmall = 0x1p-256;

struct Place {
    double before;  // the total probability of all paths from the start to this place
    double after;   // that of all paths from this place to the end, divided by that of the word
    std::int64_t scale;
};

double scaled(double value, std::int64_t by) {
    return std::ldexp(value, static_cast<int>(std::clamp<std::int64_t>(by, -16, 16)) * kScaleBits);
}

class WordPass {
 public:
    WordPass(const Lattices& lattices, const std::vector<double>& probabilities)
        : lattices_(lattices), probabilities_(probabilities.data()) {}

    // Adds the expected counts of the word to `expected`, in units of 1 / unit. Returns its
    // log-likelihood.
    double run(const Block& block, std::uint32_t start, std::uint32_t end, double weight,
               std::int64_t* expected) {
        const std::size_t length = end - start;
        points_.in_parts(length + 1, [&](std::size_t first, std::size_t last) {
            if (places_.size() < last) places_.resize(last);
            std::fill(places_.begin() + first, places_.begin() + last, Place{0, 0, 0});
        });
        places_[0].before = 1;
        points_.in_parts(length, [&](std::size_t first, std::size_t last) {
            forward(block, start, first, last);
        });
        Place& end_place = places_[length];
        scale_up(end_place);
        end_place.after = 1 / end_place.before;
        points_.in_parts(length, [&](std::size_t first, std::size_t last) {
            backward(block, start, length - last, length - first, weight, expected);
        });
        return std::log(end_place.before) -
               static_cast<double>(end_place.scale * kScaleBits) * M_LN2;
    }

 private:
    static void scale_up(Place& place) {
        if (place.before >= kSmall) return;
        place.before = scaled(place.before, 1);
        ++place.scale;
    }

    // Goes on from the places [first, last) of the word.
    void forward(const Block& block, std::uint32_t start, std::size_t first, std::size_t last) {
        const ArcFormat format = lattices_.format;
        for (std::size_t i = first; i < last; ++i) {
            Place& here = places_[i];
            scale_up(here);
            const std::uint32_t* arc_end =
                lattices_.end(block, start + static_cast<std::uint32_t>(i));
            for (const std::uint32_t* arc =
                     lattices_.begin(block, start + static_cast<std::uint32_t>(i));
                 arc != arc_end; ++arc) {
                Place& there = places_[i + format.length(*arc)];
                const double way = here.before * probabilities_[format.piece(*arc)];
                if (there.scale == here.scale) {
                    there.before += way;
                } else if (there.before == 0) {
                    there.before = way;
                    there.scale = here.scale;
                } else if (there.scale < here.scale) {
                    there.before += scaled(way, there.scale - here.scale);
                } else {
                    there.before = way + scaled(there.before, here.scale - there.scale);
                    there.scale = here.scale;
                }
            }
        }
    }

    void backward(const Block& block, std::uint32_t start, std::size_t first, std::size_t last,
                  double weight, std::int64_t* expected) {
        const ArcFormat format = lattices_.format;
        for (std::size_t i = last; i-- > first;) {
            Place& here = places_[i];
            const double before = here.before * weight;
            double after = 0;
            const std::uint32_t* arc_end =
                lattices_.end(block, start + static_cast<std::uint32_t>(i));
            for (const std::uint32_t* arc =
                     lattices_.begin(block, start + static_cast<std::uint32_t>(i));
                 arc != arc_end; ++arc) {
                const Place& there = places_[i + format.length(*arc)];
                const std::uint32_t piece = format.piece(*arc);
                double way = probabilities_[piece] * there.after;
                if (there.scale != here.scale) way = scaled(way, there.scale - here.scale);
                after += way;
                expected[piece] += static_cast<std::int64_t>(before * way + 0.5);
            }
            here.after = after;
        }
    }

    const Lattices& lattices_;
    const double* probabilities_;
    std::vector<Place> places_;
    InterruptionPoints<(1 << 14)> points_;
};

// The probability of each piece. An unknown character is less probable than all pieces.
std::vector<double> probabilities(const std::vector<Piece>& pieces) {
    std::vector<double> result(pieces.size());
    double least = 0;
    InterruptionPoints<4096> points;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        points.step();
        least = std::min(least, pieces[i].score);
        result[i] = std::exp(pieces[i].score);
    }
    result[0] = std::exp(least - kUnknownPenalty);
    return result;
}

}  // namespace

Expected expect(const CountedWords& words, const Seeds& seeds, const Workers& workers) {
    // Counts are summed as integers, in small fractions of one occurrence, so that the result does
    // not depend on the order. No sum exceeds the number of characters of the text.
    double characters = 1;
    for (std::size_t word = 0; word < words.starts.size(); ++word) {
        characters += static_cast<double>(words.counts[word]) *
                      static_cast<double>(words.end(word) - words.starts[word]);
    }
    const int fraction = std::min(30, 61 - static_cast<int>(std::ceil(std::log2(characters))));
    const double unit = std::ldexp(1.0, fraction);

    const std::vector<double> chances = probabilities(seeds.pieces);
    const std::vector<Block>& blocks = seeds.lattices.blocks;
    std::vector<std::vector<std::int64_t>> sums(workers.threads);
    std::vector<WordPass> passes(workers.threads, WordPass(seeds.lattices, chances));
    std::vector<double> likelihoods(blocks.size());
    workers.run(blocks.size(), [&](std::size_t thread, std::size_t number) {
        if (sums[thread].empty()) sums[thread].resize(chances.size());
        const Block& block = blocks[number];
        for (std::size_t word = block.first_word; word < block.last_word; ++word) {
            const auto count = static_cast<double>(words.counts[word]);
            likelihoods[number] +=
                count * passes[thread].run(block, words.starts[word], words.end(word), count * unit,
                                           sums[thread].data());
        }
    });
    Expected result{std::vector<double>(chances.size()), 0};
    for (const double likelihood : likelihoods) result.log_likelihood += likelihood;
    InterruptionPoints<(1 << 16)> points;
    for (std::size_t piece = 1; piece < chances.size(); ++piece) {
        points.step();
        std::int64_t sum = 0;
        for (const std::vector<std::int64_t>& one : sums) sum += one.empty() ? 0 : one[piece];
        result.counts[piece] = static_cast<double>(sum) / unit;
    }
    return result;
}

}  // namespace toksmith::unigram

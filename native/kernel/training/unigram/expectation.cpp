// The expectation step: the expected count of each piece, by the forward-backward algorithm.
#include <algorithm>
#include <bit>
#include <cmath>

#include "base/stop.hpp"
#include "training/unigram/steps.hpp"

namespace toksmith::unigram {
namespace {

// Probabilities of long words underflow a double. So each place may have a scale: its
// probability is value · 2^(-256 · scale).
constexpr int kScaleBits = 256;
constexpr double kSmall = 0x1p-256;
// What underflows is too small to matter beside a total probability of at least this.
constexpr double kUnscaled = 0x1p-640;

double scaled(double value, std::int64_t by) {
    return std::ldexp(value, static_cast<int>(std::clamp<std::int64_t>(by, -16, 16)) * kScaleBits);
}

// A sum of doubles that does not depend on their order.
class Sum {
 public:
    void add(double value) {
        const double floor = std::floor(value);
        whole_ += static_cast<std::int64_t>(floor);
        fraction_ += static_cast<std::int64_t>(std::ldexp(value - floor, kBits));
        whole_ += fraction_ >> kBits;
        fraction_ &= (std::int64_t{1} << kBits) - 1;
    }
    void add(const Sum& other) {
        whole_ += other.whole_;
        add(other.fraction());
    }
    double value() const { return static_cast<double>(whole_) + fraction(); }

 private:
    static constexpr int kBits = 40;

    double fraction() const { return std::ldexp(static_cast<double>(fraction_), -kBits); }

    std::int64_t whole_ = 0, fraction_ = 0;
};

struct Tally {
    double probability;
    std::int64_t expected;  // in units of 1 / unit
};

// Adds up the expected counts of words. One thread has one.
//
// Words with a common prefix share its nodes. So the paths from the start of words to a node are
// summed once; and those from the node to the ends of words are summed over the words, each in
// proportion to its count and in units of its probability.
class Pass {
 public:
    Pass(ArcFormat format, const std::vector<double>& probabilities, double unit)
        : format_(format), unit_(unit) {
        tallies_.reserve(probabilities.size());
        for (const double probability : probabilities) tallies_.push_back({probability, 0});
    }

    void add(const Trie& words) {
        undone_.clear();
        ends_.clear();
        if (before_.empty()) make_room(1);
        before_[0] = 1;
        std::uint32_t begin = 0;
        for (const Trie::String& word : words.strings) {
            forward(words, begin, word);
            begin = word.end;
        }
        for (std::size_t i = words.strings.size(); i-- > 0;) {
            const std::uint32_t first = i > 0 ? words.strings[i - 1].end : 0;
            backward(words, first, words.strings[i].end, ends_[i]);
        }
        after_[0] = 0;
    }

    std::int64_t expected(std::size_t piece) const { return tallies_[piece].expected; }
    const Sum& log_likelihood() const { return log_likelihood_; }

 private:
    struct Place {
        double before;  // the total probability of all paths from the start to this place
        double after;   // that of all paths from it to the end, divided by that of the word
        std::int64_t scale;
    };
    struct End {
        std::uint32_t length;  // of the word
        double after;          // the value of `after_` at its end
    };

    void make_room(std::size_t size) {
        before_.resize(size);
        after_.resize(size);
        nodes_.resize(size);
    }

    void forward(const Trie& words, std::uint32_t begin, const Trie::String& word) {
        std::uint32_t depth = word.shared;
        double sum = 0;
        points_.in_parts(word.end - begin, [&](std::size_t first, std::size_t last) {
            if (before_.size() < depth + 1 + (last - first)) {
                make_room(2 * (depth + 1 + (last - first)));
            }
            for (auto i = static_cast<std::uint32_t>(begin + first); i < begin + last; ++i) {
                const std::uint32_t arc = words.arcs[i], length = format_.length(arc);
                if (length == 1) {
                    if (i > begin) before_[depth] = sum;
                    ++depth;
                    undone_.push_back(before_[depth]);
                    nodes_[depth] = i;
                    sum = 0;
                }
                sum += before_[depth - length] * tallies_[format_.piece(arc)].probability;
            }
        });
        before_[depth] = sum;
        const auto count = static_cast<double>(word.value);
        if (sum >= kUnscaled) {
            log_likelihood_.add(count * std::log(sum));
            ends_.push_back({depth, count * unit_ / sum});
        } else {
            add_scaled(words, depth, word.end, count);
            ends_.push_back({depth, 0});
        }
    }

    void backward(const Trie& words, std::uint32_t begin, std::uint32_t end, const End& word) {
        std::uint32_t depth = word.length;
        after_[depth] += word.after;
        points_.in_parts(end - begin, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = end - first; i-- > end - last;) {
                const std::uint32_t arc = words.arcs[i], length = format_.length(arc);
                Tally& tally = tallies_[format_.piece(arc)];
                const double after = tally.probability * after_[depth];
                after_[depth - length] += after;
                tally.expected += static_cast<std::int64_t>(before_[depth - length] * after + 0.5);
                if (length == 1) {
                    after_[depth] = 0;
                    before_[depth] = undone_.back();  // that of the word before
                    undone_.pop_back();
                    --depth;
                }
            }
        });
    }

    // Adds a word whose probability may underflow: the current one.
    void add_scaled(const Trie& words, std::uint32_t length, std::uint32_t end, double count) {
        if (places_.size() <= length) places_.resize(length + 1);
        places_[0] = {1, 0, 0};
        const auto each_arc = [&](std::uint32_t depth, const auto& visit) {
            std::uint32_t i = nodes_[depth];
            do visit(words.arcs[i++]);
            while (i < end && format_.length(words.arcs[i]) > 1);
        };
        points_.in_parts(length, [&](std::size_t first, std::size_t last) {
            for (std::size_t depth = first + 1; depth <= last; ++depth) {
                places_[depth] = {0, 0, 0};
                each_arc(static_cast<std::uint32_t>(depth), [&](std::uint32_t arc) {
                    extend(places_[depth - format_.length(arc)],
                           tallies_[format_.piece(arc)].probability, places_[depth]);
                });
                scale_up(places_[depth]);
            }
        });
        Place& end_place = places_[length];
        end_place.after = 1 / end_place.before;
        log_likelihood_.add(count *
                            (std::log(end_place.before) -
                             static_cast<double>(end_place.scale * kScaleBits) * std::log(2.0)));
        points_.in_parts(length, [&](std::size_t first, std::size_t last) {
            for (std::size_t depth = length - first; depth > length - last; --depth) {
                each_arc(static_cast<std::uint32_t>(depth), [&](std::uint32_t arc) {
                    const Place& there = places_[depth];
                    Place& here = places_[depth - format_.length(arc)];
                    Tally& tally = tallies_[format_.piece(arc)];
                    double after = tally.probability * there.after;
                    if (there.scale != here.scale) after = scaled(after, there.scale - here.scale);
                    tally.expected +=
                        static_cast<std::int64_t>(here.before * (count * unit_) * after + 0.5);
                    here.after += after;
                });
            }
        });
    }

    static void scale_up(Place& place) {
        if (place.before >= kSmall) return;
        place.before = scaled(place.before, 1);
        ++place.scale;
    }

    // Adds the paths to `here` that go on with a piece to those to `there`.
    static void extend(const Place& here, double probability, Place& there) {
        const double before = here.before * probability;
        if (there.scale == here.scale) {
            there.before += before;
        } else if (there.before == 0) {
            there.before = before;
            there.scale = here.scale;
        } else if (there.scale < here.scale) {
            there.before += scaled(before, there.scale - here.scale);
        } else {
            there.before = before + scaled(there.before, here.scale - there.scale);
            there.scale = here.scale;
        }
    }

    ArcFormat format_;
    double unit_;
    std::vector<Tally> tallies_;
    Sum log_likelihood_;
    // By depth, along the current word.
    std::vector<double> before_, after_;
    std::vector<std::uint32_t> nodes_;  // the first arc of each node
    std::vector<double> undone_;        // the values of `before_` that were overwritten
    std::vector<End> ends_;
    std::vector<Place> places_;
    InterruptionPoints<(1 << 14)> points_;
};

// The probability of each piece. An unknown character is less probable than all pieces.
std::vector<double> probabilities(const std::vector<Piece>& pieces) {
    std::vector<double> result(pieces.size());
    InterruptionPoints<4096> points;
    for (std::size_t i = 1; i < pieces.size(); ++i) {
        points.step();
        result[i] = std::exp(pieces[i].score);
    }
    result[0] = std::exp(unknown_score(pieces));
    return result;
}

}  // namespace

Expected expect(const Seeds& seeds, double characters, const Workers& workers) {
    // Counts are summed as integers, in small fractions of one occurrence, so that the result does
    // not depend on the order. No sum exceeds the number of characters of the text.
    const int fraction = std::min(48, 61 - static_cast<int>(std::ceil(std::log2(characters))));
    const double unit = std::ldexp(1.0, fraction);

    const std::vector<double> chances = probabilities(seeds.pieces);
    std::vector<Pass> passes;
    std::vector<Trie> buffers(workers.threads);
    for (std::size_t thread = 0; thread < workers.threads; ++thread) {
        passes.emplace_back(seeds.format, chances, unit);
    }
    workers.run(seeds.words, [&](std::size_t thread, std::size_t job) {
        passes[thread].add(seeds.tries.get(job, buffers[thread]));
    });
    Expected result{std::vector<double>(chances.size()), 0};
    Sum log_likelihood;
    for (const Pass& pass : passes) log_likelihood.add(pass.log_likelihood());
    result.log_likelihood = log_likelihood.value();
    InterruptionPoints<(1 << 16)> points;
    for (std::size_t piece = 1; piece < chances.size(); ++piece) {
        points.step();
        std::int64_t sum = 0;
        for (const Pass& pass : passes) sum += pass.expected(piece);
        result.counts[piece] = static_cast<double>(sum) / unit;
    }
    return result;
}

}  // namespace toksmith::unigram

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/stop.hpp"
#include "training/unigram/lattices.hpp"

namespace toksmith::unigram {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

double unknown_score(const std::vector<Piece>& pieces) {
    double least = 0;
    for (std::size_t i = 1; i < pieces.size(); ++i) least = std::min(least, pieces[i].score);
    return least - kUnknownPenalty;
}

// The best segmentation of a range of the text.
class Viterbi {
 public:
    Viterbi(const Seeds& seeds, double unknown) : seeds_(seeds), unknown_(unknown) {}

    // Finds the best segmentation of [start, end). If `without` is not 0, it uses neither that
    // piece nor unknown characters. Returns its score, or kNever if there is none.
    double run(const Block& block, std::uint32_t start, std::uint32_t end, std::uint32_t without) {
        const std::size_t length = end - start;
        points_.in_parts(length + 1, [&](std::size_t first, std::size_t last) {
            if (scores_.size() < last) {
                scores_.resize(last);
                last_.resize(last);
            }
            std::fill(scores_.begin() + first, scores_.begin() + last, kNever);
        });
        scores_[0] = 0;
        points_.in_parts(length, [&](std::size_t first, std::size_t last) {
            extend(block, start, length, first, last, without);
        });
        return scores_[length];
    }

    // Calls visit(piece) for each piece of the best segmentation, in reverse order.
    template <typename Visit>
    void walk(std::size_t length, Visit visit) const {
        const ArcFormat format = seeds_.lattices.format;
        while (length > 0) {
            visit(format.piece(last_[length]));
            length -= format.length(last_[length]);
        }
    }

 private:
    // Extends the best paths to the places [first, last) by their arcs.
    void extend(const Block& block, std::uint32_t start, std::size_t length, std::size_t first,
                std::size_t last, std::uint32_t without) {
        const Lattices& lattices = seeds_.lattices;
        const ArcFormat format = lattices.format;
        for (auto i = static_cast<std::uint32_t>(first); i < last; ++i) {
            if (scores_[i] == kNever) continue;
            const std::uint32_t* arc_end = lattices.end(block, start + i);
            for (const std::uint32_t* arc = lattices.begin(block, start + i); arc != arc_end;
                 ++arc) {
                const std::size_t there = i + format.length(*arc);
                if (there > length) break;  // arcs are ordered by length
                const std::uint32_t piece = format.piece(*arc);
                if (without && (piece == without || piece == 0)) continue;
                const double score = scores_[i] + (piece ? seeds_.pieces[piece].score : unknown_);
                if (score > scores_[there]) {
                    scores_[there] = score;
                    last_[there] = *arc;
                }
            }
        }
    }

    const Seeds& seeds_;
    double unknown_;
    std::vector<double> scores_;
    std::vector<std::uint32_t> last_;  // the last arc of the best path to each place
    InterruptionPoints<(1 << 14)> points_;
};

// How often each piece occurs in the most probable segmentation of the text.
std::vector<std::uint64_t> usage(const CountedWords& words, const Seeds& seeds,
                                 const Workers& workers) {
    const std::vector<Block>& blocks = seeds.lattices.blocks;
    std::vector<std::vector<std::uint64_t>> sums(workers.threads);
    std::vector<Viterbi> viterbi(workers.threads, Viterbi(seeds, unknown_score(seeds.pieces)));
    workers.run(blocks.size(), [&](std::size_t thread, std::size_t number) {
        std::vector<std::uint64_t>& sum = sums[thread];
        if (sum.empty()) sum.resize(seeds.pieces.size());
        const Block& block = blocks[number];
        for (std::size_t word = block.first_word; word < block.last_word; ++word) {
            const std::uint32_t start = words.starts[word], end = words.end(word);
            viterbi[thread].run(block, start, end, 0);
            viterbi[thread].walk(end - start,
                                 [&](std::uint32_t piece) { sum[piece] += words.counts[word]; });
        }
    });
    std::vector<std::uint64_t> result(seeds.pieces.size());
    for (const std::vector<std::uint64_t>& sum : sums) {
        for (std::size_t piece = 1; piece < sum.size(); ++piece) result[piece] += sum[piece];
    }
    return result;
}

}  // namespace

std::vector<std::uint8_t> superfluous(const CountedWords& words, const Seeds& seeds,
                                      std::size_t size, const Workers& workers) {
    const std::vector<Piece>& pieces = seeds.pieces;
    const std::vector<std::uint64_t> used = usage(words, seeds, workers);
    double total = 0;
    for (const std::uint64_t count : used) total += static_cast<double>(count);

    constexpr double kKeep = std::numeric_limits<double>::infinity();
    std::vector<double> losses(pieces.size(), kNever);  // kNever: always dropped
    constexpr std::size_t kJob = 4096;
    std::vector<Viterbi> viterbi(workers.threads, Viterbi(seeds, 0));
    workers.run((pieces.size() + kJob - 1) / kJob, [&](std::size_t thread, std::size_t job) {
        const std::size_t end = std::min(pieces.size(), (job + 1) * kJob);
        for (std::size_t piece = std::max<std::size_t>(1, job * kJob); piece < end; ++piece) {
            if (used[piece] == 0) continue;
            const auto [place, length, score] = pieces[piece];
            const double without =
                viterbi[thread].run(seeds.lattices.block_at(place), place, place + length,
                                    static_cast<std::uint32_t>(piece));
            if (without > score) continue;
            if (without == kNever) {
                losses[piece] = kKeep;
                continue;
            }
            // The pieces that replace the removed piece take over its count.
            const auto count = static_cast<double>(used[piece]);
            double parts = 0, others = 0;
            viterbi[thread].walk(length, [&](std::uint32_t part) {
                others += std::log(static_cast<double>(used[part]) + count);
                ++parts;
            });
            const double new_total = std::log(total + count * (parts - 1));
            losses[piece] = count * (std::log(count / total) - (others - parts * new_total));
        }
    });

    std::vector<std::uint32_t> order;
    std::size_t keep = 0;
    for (std::size_t piece = 1; piece < pieces.size(); ++piece) {
        if (losses[piece] == kKeep) {
            ++keep;
        } else if (losses[piece] != kNever) {
            order.push_back(static_cast<std::uint32_t>(piece));
        }
    }
    const std::size_t room = std::min(order.size(), size > keep ? size - keep : 0);
    const auto better = [&](std::uint32_t a, std::uint32_t b) {
        return losses[a] != losses[b] ? losses[a] > losses[b] : a < b;
    };
    InterruptionPoints<(1 << 16)> points;
    std::nth_element(order.begin(), order.begin() + static_cast<std::ptrdiff_t>(room), order.end(),
                     with_interruption(points, better));
    std::vector<std::uint8_t> result(pieces.size());
    for (std::size_t piece = 1; piece < pieces.size(); ++piece) {
        result[piece] = losses[piece] == kNever;
    }
    for (std::size_t i = room; i < order.size(); ++i) result[order[i]] = 1;
    return result;
}

}  // namespace toksmith::unigram

// The pruning step: which pieces to remove, by Viterbi segmentations with and without each piece.
#include <algorithm>
#include <cmath>
#include <limits>

#include "base/stop.hpp"
#include "models/unigram/unknown_penalty.hpp"
#include "training/unigram/steps.hpp"

namespace toksmith::unigram {
namespace {

constexpr double kNever = -std::numeric_limits<double>::infinity();

// Finds the most probable paths through strings, node by node. One thread has one.
class Viterbi {
 public:
    Viterbi(ArcFormat format, const std::vector<double>& piece_scores)
        : format_(format), piece_scores_(piece_scores) {}

    // The best path to a node.
    struct Path {
        double score;
        std::uint32_t arc;  // the last one
    };

    // Adds the counts of words to their pieces.
    void add_usage(const Trie& words, std::vector<std::uint64_t>& used) {
        best_.clear();
        lengths_.clear();
        std::uint32_t begin = 0;
        for (const Trie::String& word : words.strings) {
            lengths_.push_back(extend<false>(words, begin, word));
            begin = word.end;
        }
        counts_.assign(paths_.size(), 0);
        std::size_t node = best_.size();
        for (std::size_t i = words.strings.size(); i-- > 0;) {
            std::uint32_t depth = lengths_[i];
            const std::uint32_t shared = words.strings[i].shared;
            counts_[depth] += words.strings[i].value;
            points_.in_parts(depth - shared, [&](std::size_t first, std::size_t last) {
                for (; first < last; ++first, --depth) {
                    const std::uint32_t arc = best_[--node];
                    used[format_.piece(arc)] += counts_[depth];
                    counts_[depth - format_.length(arc)] += counts_[depth];
                    counts_[depth] = 0;
                }
            });
        }
    }

    // Calls visit(piece, length, path) for each piece: its length, and the best path of other
    // pieces through it, without unknown characters.
    template <typename Visit>
    void each_piece(const Trie& spellings, const Visit& visit) {
        std::uint32_t begin = 0;
        for (const Trie::String& string : spellings.strings) {
            const std::uint32_t length = extend<true>(spellings, begin, string);
            if (string.value) {
                Path best{kNever, 0};
                for (std::uint32_t i = last_node_; i < string.end; ++i) {
                    const std::uint32_t arc = spellings.arcs[i];
                    if (format_.length(arc) < length) choose<true>(arc, length, best);
                }
                visit(static_cast<std::uint32_t>(string.value), length, best);
            }
            begin = string.end;
        }
    }

    // Calls visit(piece) for each piece of a path, in reverse order.
    template <typename Visit>
    void walk(std::uint32_t length, Path path, const Visit& visit) const {
        for (;; path = paths_[length]) {
            visit(format_.piece(path.arc));
            length -= format_.length(path.arc);
            if (length == 0) return;
        }
    }

 private:
    // Finds the best paths to the nodes of a string. Returns its length.
    template <bool kKnown>
    std::uint32_t extend(const Trie& trie, std::uint32_t begin, const Trie::String& string) {
        std::uint32_t depth = string.shared;
        if (paths_.empty()) paths_.resize(1);
        paths_[0] = {0, 0};
        Path best{kNever, 0};
        points_.in_parts(string.end - begin, [&](std::size_t first, std::size_t last) {
            if (paths_.size() < depth + 1 + (last - first)) {
                paths_.resize(2 * (depth + 1 + (last - first)));
            }
            for (auto i = static_cast<std::uint32_t>(begin + first); i < begin + last; ++i) {
                if (format_.length(trie.arcs[i]) == 1) {
                    if (i > begin) end_node<kKnown>(depth, best);
                    ++depth;
                    best = {kNever, 0};
                    last_node_ = i;
                }
                choose<kKnown>(trie.arcs[i], depth, best);
            }
        });
        end_node<kKnown>(depth, best);
        return depth;
    }

    template <bool kKnown>
    void end_node(std::uint32_t depth, const Path& best) {
        paths_[depth] = best;
        if (!kKnown) best_.push_back(best.arc);
    }

    // Of equal paths, the one with the longest last piece is chosen.
    template <bool kKnown>
    void choose(std::uint32_t arc, std::uint32_t depth, Path& best) const {
        const std::uint32_t piece = format_.piece(arc);
        if (kKnown && piece == 0) return;
        const double before = paths_[depth - format_.length(arc)].score;
        const double score = before + piece_scores_[piece];
        if (score >= best.score && score != kNever) best = {score, arc};
    }

    ArcFormat format_;
    const std::vector<double>& piece_scores_;
    std::vector<Path> paths_;          // by depth, along the current string
    std::uint32_t last_node_ = 0;      // the first arc of its last node
    std::vector<std::uint32_t> best_;  // of all nodes
    std::vector<std::uint32_t> lengths_;
    std::vector<std::uint64_t> counts_;  // by depth
    InterruptionPoints<(1 << 14)> points_;
};

std::vector<double> scores(const std::vector<Piece>& pieces) {
    std::vector<double> result;
    result.reserve(pieces.size());
    for (const Piece& piece : pieces) result.push_back(piece.score);
    result[0] = unknown_score(pieces);
    return result;
}

// How often each piece occurs in the most probable segmentation of the text.
std::vector<std::uint64_t> usage(const Seeds& seeds, const std::vector<double>& piece_scores,
                                 const Workers& workers) {
    std::vector<std::vector<std::uint64_t>> sums(workers.threads);
    std::vector<Viterbi> viterbi(workers.threads, Viterbi(seeds.format, piece_scores));
    std::vector<Trie> buffers(workers.threads);
    workers.run(seeds.words, [&](std::size_t thread, std::size_t job) {
        if (sums[thread].empty()) sums[thread].resize(seeds.pieces.size());
        viterbi[thread].add_usage(seeds.tries.get(job, buffers[thread]), sums[thread]);
    });
    std::vector<std::uint64_t> result(seeds.pieces.size());
    for (const std::vector<std::uint64_t>& sum : sums) {
        for (std::size_t piece = 1; piece < sum.size(); ++piece) result[piece] += sum[piece];
    }
    return result;
}

}  // namespace

double unknown_score(const std::vector<Piece>& pieces) {
    double least = 0;
    for (std::size_t i = 1; i < pieces.size(); ++i) least = std::min(least, pieces[i].score);
    return least - kUnknownPenalty;
}

std::vector<std::uint8_t> superfluous(const Seeds& seeds, std::size_t size,
                                      const Workers& workers) {
    const std::vector<Piece>& pieces = seeds.pieces;
    const std::vector<double> piece_scores = scores(pieces);
    const std::vector<std::uint64_t> used = usage(seeds, piece_scores, workers);
    double total = 0;
    for (const std::uint64_t count : used) total += static_cast<double>(count);

    constexpr double kKeep = std::numeric_limits<double>::infinity();
    std::vector<double> losses(pieces.size(), kNever);  // kNever: always dropped
    std::vector<Viterbi> viterbi(workers.threads, Viterbi(seeds.format, piece_scores));
    std::vector<Trie> buffers(workers.threads);
    workers.run(seeds.tries.size() - seeds.words, [&](std::size_t thread, std::size_t job) {
        const auto look = [&](std::uint32_t piece, std::uint32_t length,
                              const Viterbi::Path& without) {
            if (used[piece] == 0 || without.score > pieces[piece].score) return;
            if (without.score == kNever) {
                losses[piece] = kKeep;
                return;
            }
            // The pieces that replace the removed piece take over its count.
            const auto count = static_cast<double>(used[piece]);
            double parts = 0, others = 0;
            viterbi[thread].walk(length, without, [&](std::uint32_t part) {
                others += std::log(static_cast<double>(used[part]) + count);
                ++parts;
            });
            const double new_total = std::log(total + count * (parts - 1));
            losses[piece] = count * (std::log(count / total) - (others - parts * new_total));
        };
        viterbi[thread].each_piece(seeds.tries.get(seeds.words + job, buffers[thread]), look);
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

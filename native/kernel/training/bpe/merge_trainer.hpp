// Training by merging: repeatedly merges the best pair of adjacent symbols into a new one.
//
// A MergeCriterion (see merge_criteria.hpp) decides which pairs may merge, and which pair is the
// best:
//   allowed(left, right)   whether the two may merge
//   made(left, right)      called when they were merged; the new symbol has the next id
//   worth(pair), tie(pair) the best pair has the highest worth; of several, the lowest tie
//   magnitude(worth)       a monotonic function of the worth, below kMagnitudes
//   most(magnitude)        if kRelative: the highest worth of that magnitude
//   before(a, b)           if kFullTies: the order of pairs with equal ties; of several, the pair
//                          with the lowest number
//   kByPlace               the tie is the first position at which the pair still occurs
//   kRelative              worth() also depends on the counts of the symbols, and may rise;
//                          symbol_counts holds those outside of the chunks at first
//   is_best(pair)          if there is such a member: whether the best pair of the chunks is surely
//                          the best of the whole text, else training ends
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/stop.hpp"
#include "base/team.hpp"
#include "training/bpe/cells.hpp"
#include "training/bpe/first_pairs.hpp"
#include "training/bpe/pair.hpp"
#include "training/bpe/pair_index.hpp"
#include "training/bpe/pair_occurrences.hpp"
#include "training/bpe/pair_queue.hpp"
#include "training/bpe/position_arena.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

template <typename Symbol, typename MergeCriterion>
class MergeTrainer {
 public:
    // `alphabet`: the number of initial symbols. New symbols get the following ids.
    MergeTrainer(const Counted<Symbol>& chunks, std::size_t alphabet, std::uint64_t min_frequency,
                 MergeCriterion& criterion, const Sharing& sharing)
        : criterion_(criterion),
          alphabet_(alphabet),
          lengths_(alphabet, 1),
          team_(sharing.threads_for(chunks.size())),
          least_share_(sharing.least),
          few_places_(sharing.least << 14),
          shares_(team_.size()),
          cells_(chunks, team_, shares_of(chunks.size())),
          queue_(criterion, pairs_, std::max<std::uint64_t>(1, min_frequency)) {
        if constexpr (MergeCriterion::kRelative) {
            criterion_.symbol_counts.resize(alphabet);
            pairs_of_.resize(alphabet);
        }
        find_pairs(chunks);
        count_symbols(chunks);
        enough_places_ = std::max(arena_.taken() / 4 * 5, few_places_);
        enqueue_new();
    }

    // After an exception, the trainer must not be used again.
    Training run(std::size_t tokens, const Watch& watch) {
        Training result;
        keep_at_stop(watch, result, [&] { run(tokens, watch, result); });
        return result;
    }
    // The same, but adds the merges to those in `result`.
    void run(std::size_t tokens, const Watch& watch, Training& result) {
        for (const std::size_t wanted = lengths_.size() + tokens; lengths_.size() < wanted;) {
            const std::uint32_t best = take_best();
            if (best == PairIndex::kNone || !is_best(pairs_[best])) break;
            const std::uint64_t count = pairs_[best].count;
            const MergeRule rule{pairs_[best].left, pairs_[best].right,
                                 static_cast<Id>(lengths_.size())};
            lengths_.push_back(lengths_[rule.left] + lengths_[rule.right]);
            criterion_.made(rule.left, rule.right);
            apply(best, rule.id);
            if (arena_.taken() > enough_places_) drop_old_places();
            result.merges.push_back(rule);
            result.counts.push_back(count);
            result.tokens.push_back(total_);
            if (watch && !watch(result)) break;
            interruption_point();
        }
    }

    // The number of tokens of the text.
    std::uint64_t total() const { return total_; }
    // Counts tokens of the text that are not in the chunks.
    void add_outside(std::uint64_t tokens) { total_ += tokens; }

 private:
    static constexpr std::size_t kAhead = 16;  // prefetch distance, in positions
    // Interruption points: one per this number of positions.
    static constexpr std::size_t kAtOnce = std::size_t{1} << 14;

    // The start of a share, which is one thread's part of the work.
    struct Cut {
        const Position* place;  // in the list of positions
        Position start;         // of the first chunk
    };

    void find_pairs(const Counted<Symbol>& chunks) {
        const std::size_t shares = shares_of(chunks.size());
        std::vector<FirstPairs> first;
        for (std::size_t i = 0; i < shares; ++i) first.emplace_back(alphabet_);
        const auto for_each = [&](std::size_t share, auto visit) {
            for_each_pair(chunks, chunks.cut(share, shares), chunks.cut(share + 1, shares), visit);
        };
        team_.run(shares, [&](std::size_t share) {
            std::vector<PairOccurrence>& seen = shares_[share].pairs;
            for_each(share, [&](Id left, Id right, std::uint64_t count, std::size_t) {
                const std::uint32_t number = first[share].find_or_add(left, right, [&] {
                    if (!criterion_.allowed(left, right)) return PairIndex::kNone;
                    seen.push_back({left, right});
                    return static_cast<std::uint32_t>(seen.size() - 1);
                });
                if (number == PairIndex::kNone) return;
                seen[number].count += count;
                ++seen[number].places;
            });
        });
        add_pairs(shares);
        team_.run(shares, [&](std::size_t share) {
            for_each(share, [&](Id left, Id right, std::uint64_t, std::size_t place) {
                const std::uint32_t number = first[share].find(left, right);
                if (number == PairIndex::kNone) return;
                *shares_[share].pairs[number].next++ = static_cast<Position>(place);
            });
        });
    }

    void count_symbols(const Counted<Symbol>& chunks) {
        std::uint64_t start = 0;
        InterruptionPoints<4096> points;
        for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
            points.step();
            const std::uint64_t end = chunks.ends[chunk], count = chunks.counts[chunk];
            total_ += count * (end - start);
            if constexpr (MergeCriterion::kRelative) {
                for (std::uint64_t i = start; i < end; ++i) {
                    criterion_.symbol_counts[chunks.symbols[i]] += count;
                }
            }
            start = end;
        }
    }

    // The number of shares for `places` positions.
    std::size_t shares_of(std::size_t places) const {
        return std::clamp<std::size_t>(places / least_share_, 1, shares_.size());
    }

    // Adds the pairs that the shares have found, and allocates the lists of their positions.
    // Processes the shares in order, so the result does not depend on their number.
    void add_pairs(std::size_t shares) {
        first_new_ = pairs_.size();
        InterruptionPoints<4096> points;
        for (std::size_t share = 0; share < shares; ++share) {
            std::vector<PairOccurrence>& seen = shares_[share].pairs;
            for (std::size_t i = 0; i < seen.size(); ++i) {
                if (i + kAhead < seen.size()) {
                    index_.prefetch(seen[i + kAhead].left, seen[i + kAhead].right);
                }
                if (seen[i].pair != PairIndex::kNone) add_occurrence(seen[i]);
                points.step();
            }
        }
        std::size_t places = 0;
        for (std::size_t i = first_new_; i < pairs_.size(); ++i) places += pairs_[i].size;
        Position* next = arena_.take(places);
        for (std::size_t i = first_new_; i < pairs_.size(); ++i) {
            pairs_[i].places = next;
            next += pairs_[i].size;
        }
        for (std::size_t share = 0; share < shares; ++share) {
            for (PairOccurrence& seen : shares_[share].pairs) {
                points.step();
                if (seen.pair != PairIndex::kNone)
                    seen.next = pairs_[seen.pair].places + seen.places;
            }
        }
    }

    void add_occurrence(PairOccurrence& seen) {
        const auto next = static_cast<std::uint32_t>(pairs_.size());
        seen.pair = index_.find_or_add(seen.left, seen.right, next);
        if (seen.pair == next) {
            pairs_.push_back({seen.left, seen.right, seen.count, nullptr, seen.places});
            seen.places = 0;
            if constexpr (MergeCriterion::kRelative) {
                pairs_of_[seen.left].push_back(next);
                if (seen.left != seen.right) pairs_of_[seen.right].push_back(next);
            }
        } else {
            Pair& pair = pairs_[seen.pair];
            pair.count += seen.count;
            seen.places = std::exchange(pair.size, pair.size + seen.places);
        }
    }

    void enqueue_new() {
        InterruptionPoints<4096> points;
        for (std::size_t i = first_new_; i < pairs_.size(); ++i) {
            points.step();
            queue_.add(static_cast<std::uint32_t>(i));
        }
    }

    std::uint32_t take_best() {
        return queue_.take_best([&](std::uint32_t number) {
            if constexpr (MergeCriterion::kByPlace) {
                Pair& pair = pairs_[number];
                while (!is_current(pair, *pair.places)) {
                    ++pair.places;
                    --pair.size;
                }
            }
        });
    }

    bool is_best(const Pair& pair) {
        if constexpr (requires { criterion_.is_best(pair); }) return criterion_.is_best(pair);
        return true;
    }

    // Whether the pair still occurs at this position.
    bool is_current(const Pair& pair, Position place) const {
        return cells_.starts(place, pair.left) &&
               cells_.goes_on(place + lengths_[pair.left], pair.right);
    }

    void apply(std::uint32_t number, Id id) {
        const Pair pair = pairs_[number];
        pairs_[number].count = 0;
        if constexpr (MergeCriterion::kRelative) {
            criterion_.symbol_counts.push_back(0);
            pairs_of_.emplace_back();
        }
        cut_places(pair);
        const std::size_t shares = cuts_.size() - 1;
        team_.run(shares, [&](std::size_t share) { join(pair, id, share); });
        add_pairs(shares);
        for (std::size_t share = 0; share < shares; ++share) {
            shares_[share].keep_places();
            take_joined(pair, id, shares_[share].joined);
            subtract(number, pair, id, shares_[share].pairs);
        }
        enqueue_new();
        if constexpr (MergeCriterion::kRelative) {
            enqueue_all_of(pair.left);
            if (pair.left != pair.right) enqueue_all_of(pair.right);
        }
    }

    // Cuts the list of positions of a pair into shares, at starts of chunks.
    void cut_places(const Pair& pair) {
        cuts_.assign(1, {pair.places, 0});
        const std::size_t shares = shares_of(pair.size);
        for (std::size_t share = 1; share < shares; ++share) {
            const Position* const place = pair.places + pair.size / shares * share;
            const Position start = cells_.chunk_start(*place);
            const Position* const cut = std::lower_bound(cuts_.back().place, place, start);
            if (cut > cuts_.back().place) cuts_.push_back({cut, start});
        }
        cuts_.push_back({pair.places + pair.size, static_cast<Position>(cells_.size())});
    }

    // Merges the pair at the positions of a share, from left to right, and records the new pairs.
    // Reads only chunks of this share.
    void join(const Pair& pair, Id id, std::size_t share) {
        PairOccurrences& seen = shares_[share];

        const auto allowed = [&](Id left, Id right) { return criterion_.allowed(left, right); };
        const Position* const places = cuts_[share].place;
        const std::size_t size = cuts_[share + 1].place - places;
        seen.begin(lengths_.size(), size);
        const Position chunks_end = cuts_[share + 1].start;
        const std::uint32_t left = lengths_[pair.left], whole = left + lengths_[pair.right];
        for (std::size_t i = 0; i < std::min(kAhead, size); ++i) cells_.prefetch(places[i]);
        for (std::size_t i = 0; i < size;) {
            for (const std::size_t stop = std::min(size, i + kAtOnce); i < stop; ++i) {
                if (i + kAhead < size) cells_.prefetch(places[i + kAhead]);
                const Position place = places[i], end = place + whole;
                if (!is_current(pair, place)) continue;
                const std::uint64_t count = cells_.count(place);
                if (!cells_.is_first(place)) {
                    const Id other = cells_.id_before(place);
                    seen.note_before(other, id, count, place - lengths_[other], allowed);
                }
                if (end != chunks_end && !cells_.is_first(end)) {
                    seen.note_after(id, cells_.id_at(end), count, place, allowed);
                }
                cells_.join(place, left, whole, id);
                seen.joined += count;
            }
            if (i < size) interruption_point();
        }
    }

    void take_joined(const Pair& pair, Id id, std::uint64_t joined) {
        total_ -= joined;
        if constexpr (MergeCriterion::kRelative) {
            criterion_.symbol_counts[pair.left] -= joined;
            criterion_.symbol_counts[pair.right] -= joined;
            criterion_.symbol_counts[id] += joined;
        }
    }

    // Lowers the counts of pairs that the merge has replaced: those of a neighbour and one of the
    // two symbols. They are scattered over memory, so they are prefetched.
    void subtract(std::uint32_t merged, const Pair& pair, Id id,
                  const std::vector<PairOccurrence>& seen) {
        const auto old = [&](const PairOccurrence& made) {
            return made.right == id ? std::pair(made.left, pair.left)
                                    : std::pair(pair.right, made.right);
        };
        found_.clear();
        for (std::size_t i = 0; i < seen.size() + kAhead; ++i) {
            if (i < seen.size()) {
                const auto [left, right] = old(seen[i]);
                index_.prefetch(left, right);
            }
            if (i < kAhead) continue;
            const auto [left, right] = old(seen[i - kAhead]);
            found_.push_back(index_.find(left, right));
            if (found_.back() != PairIndex::kNone) __builtin_prefetch(&pairs_[found_.back()], 1);
        }
        for (std::size_t i = 0; i < seen.size(); ++i) {
            // The merged pair itself has no count any more.
            if (found_[i] == PairIndex::kNone || found_[i] == merged) continue;
            pairs_[found_[i]].count -= seen[i].count;
        }
    }

    // Drops outdated positions. Lists are in the order of the pairs' numbers, so the old arena is
    // freed block by block.
    void drop_old_places() {
        const std::size_t enough = arena_.taken() / (16 * shares_.size()) + 1;
        // The first pair of each part with about `enough` positions.
        std::vector<std::size_t> starts{0};
        std::size_t places = 0;
        for (std::size_t i = 0; i < pairs_.size(); ++i) {
            places += pairs_[i].size;
            if (places < enough) continue;
            starts.push_back(i + 1);
            places = 0;
        }
        starts.push_back(pairs_.size());
        team_.run(starts.size() - 1,
                  [&](std::size_t part) { sift_places(starts[part], starts[part + 1]); });
        PositionArena old = std::exchange(arena_, PositionArena());
        InterruptionPoints<kAtOnce> points;
        for (Pair& pair : pairs_) {
            points.step();
            if (pair.size == 0) continue;
            old.drop_before(pair.places);
            const Position* const from = std::exchange(pair.places, arena_.take(pair.size));
            points.in_parts(pair.size, [&](std::size_t begin, std::size_t end) {
                std::copy(from + begin, from + end, pair.places + begin);
            });
        }
        enough_places_ = std::max(arena_.taken() / 2 * 3, few_places_);
    }

    // Moves the positions that are still valid to the front of their lists.
    void sift_places(std::size_t first, std::size_t last) {
        InterruptionPoints<kAtOnce> points;
        for (std::size_t i = first; i < last; ++i) {
            points.step();
            if (i + kAhead < last && pairs_[i + kAhead].size > 0) {
                cells_.prefetch(*pairs_[i + kAhead].places);
            }
            Pair& pair = pairs_[i];
            if (pair.count == 0) pair.size = 0;
            Position *const places = pair.places, *kept = places;
            points.in_parts(pair.size, [&](std::size_t begin, std::size_t end) {
                for (std::size_t at = begin; at < end; ++at) {
                    if (at + kAhead < pair.size) cells_.prefetch(places[at + kAhead]);
                    if (is_current(pair, places[at])) *kept++ = places[at];
                }
            });
            pair.size = static_cast<std::uint32_t>(kept - places);
        }
    }

    // Queues all pairs of a symbol again: it became rarer, so their worth has risen. Drops pairs
    // whose count is 0.
    void enqueue_all_of(Id id) {
        std::erase_if(pairs_of_[id], [&](std::uint32_t pair) { return pairs_[pair].count == 0; });
        for (const std::uint32_t pair : pairs_of_[id]) queue_.add(pair);
    }

    MergeCriterion& criterion_;
    std::size_t alphabet_;
    std::vector<std::uint32_t> lengths_;  // the length of each symbol, in cells

    Team team_;
    std::size_t least_share_;
    std::size_t few_places_;  // shorter lists are not cleaned up
    std::vector<PairOccurrences> shares_;

    Cells cells_;
    PairIndex index_;
    PositionArena arena_;
    std::size_t enough_places_ = 0;  // if there are more positions, outdated ones are dropped
    Pairs pairs_;
    PairQueue<MergeCriterion> queue_;
    std::vector<std::vector<std::uint32_t>> pairs_of_;  // by id, if kRelative: its pairs
    std::uint64_t total_ = 0;

    // State of the current merge:
    std::vector<Cut> cuts_;      // the shares of its positions
    std::size_t first_new_ = 0;  // the first pair that it made
    std::vector<std::uint32_t> found_;
};

}  // namespace toksmith::bpe

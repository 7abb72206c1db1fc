// Training by merging: the best pair of neighbours becomes one symbol, again and again.
//
// Which pairs may merge, and which of them is the best, an Order says (see orders.hpp):
//   allowed(left, right)   whether the two may become one symbol
//   made(left, right)      they did; its id is the next
//   worth(pair), tie(pair) the best pair has the highest worth, then the lowest tie
//   before(a, b)           then, if kFullTies, this decides, and the number of the pair if not
//   kByPlace               ties are the first place, which must be one where the pair still stands
//   kRelative              worth() also asks how often each symbol stands
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "train/pair_index.hpp"
#include "train/training.hpp"

namespace toksmith::bpe {

using Place = std::uint32_t;

struct Pair {
    Id left, right;
    std::uint64_t count = 0;
    std::vector<Place> places;  // some may be out of date
    std::uint32_t first = 0;    // places before this index are out of date
    std::uint32_t touched = 0;  // by which merge
    Place spelled;              // a place where its text stands, merged or not
};

template <typename Symbol, typename Order>
class MergeTrainer {
 public:
    // `alphabet`: the ids below it are symbols of the chunks; new ids follow.
    MergeTrainer(const Counted<Symbol>& chunks, std::size_t alphabet, std::uint64_t min_frequency,
                 Order& order)
        : chunks_(chunks),
          order_(order),
          alphabet_(alphabet),
          min_frequency_(std::max<std::uint64_t>(1, min_frequency)),
          lengths_(alphabet, 1),
          queue_(Worse{this}) {
        if constexpr (Order::kRelative) {
            order_.symbol_counts.assign(alphabet, 0);
            pairs_of_.resize(alphabet);
        }
        lay_out();
        for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) enqueue(pair);
    }

    Training run(std::size_t tokens, const Watch& watch) {
        Training result;
        while (lengths_.size() < alphabet_ + tokens) {
            const std::uint32_t best = take_best();
            if (best == PairIndex::kNone) break;
            const std::uint64_t count = pairs_[best].count;
            const MergeRule rule{pairs_[best].left, pairs_[best].right,
                                 static_cast<Id>(lengths_.size())};
            lengths_.push_back(lengths_[rule.left] + lengths_[rule.right]);
            order_.made(rule.left, rule.right);
            apply(best, rule.id);
            result.merges.push_back(rule);
            result.counts.push_back(count);
            result.tokens.push_back(total_);
            if (watch && !watch(rule, count)) break;
        }
        return result;
    }

 private:
    // All chunks stand end to end, one cell a symbol, in the order in which they were first seen:
    // so the smallest place of a pair is where the text first shows it. As in merge_long, an id is
    // in the first cell of what it covers and, marked, in the last.
    static constexpr Id kNoStart = 0x80000000u;

    struct Cell {
        Id id;
        std::uint32_t chunk;
    };

    // What the queue knows of a pair. It may be worth too much or too early in place, never the
    // other way round, so an entry that proves true at the top is the best.
    struct Entry {
        std::uint64_t worth;
        std::uint64_t tie;
        std::uint32_t pair;
    };

    struct Worse {
        const MergeTrainer* trainer;
        bool operator()(const Entry& a, const Entry& b) const {
            if (a.worth != b.worth) return a.worth < b.worth;
            if (a.tie != b.tie) return a.tie > b.tie;
            if constexpr (Order::kFullTies) {
                return trainer->order_.before(trainer->pairs_[b.pair], trainer->pairs_[a.pair]);
            }
            return a.pair > b.pair;
        }
    };

    void lay_out() {
        const std::uint64_t size = chunks_.ends.empty() ? 0 : chunks_.ends.back();
        if (size >= kNoStart) {
            throw std::length_error(
                "the distinct chunks come to 2^31 symbols or more, which training cannot hold: use "
                "a split pattern, or drop the rare chunks");
        }
        cells_.resize(size);
        std::uint64_t start = 0;
        for (std::uint32_t chunk = 0; chunk < chunks_.ends.size(); ++chunk) {
            const std::uint64_t end = chunks_.ends[chunk];
            const Symbol* symbols = chunks_.symbols;
            for (std::uint64_t i = start; i < end; ++i) cells_[i] = {symbols[i], chunk};
            if constexpr (Order::kRelative) {
                for (std::uint64_t i = start; i < end; ++i) {
                    order_.symbol_counts[symbols[i]] += chunks_.counts[chunk];
                }
            }
            for (std::uint64_t i = start; i + 1 < end; ++i) {
                add(symbols[i], symbols[i + 1], chunks_.counts[chunk], i);
            }
            total_ += chunks_.counts[chunk] * (end - start);
            start = end;
        }
        touched_.clear();
    }

    void add(Id left, Id right, std::uint64_t count, std::size_t place) {
        if (!order_.allowed(left, right)) return;
        const std::uint32_t number = index_.find_or_add(left, right);
        if (number == pairs_.size()) {
            pairs_.push_back({left, right, 0, {}, 0, 0, static_cast<Place>(place)});
            if constexpr (Order::kRelative) {
                pairs_of_[left].push_back(number);
                if (left != right) pairs_of_[right].push_back(number);
            }
        }
        Pair& pair = pairs_[number];
        pair.count += count;
        pair.places.push_back(static_cast<Place>(place));
        if (pair.touched != merge_) {
            pair.touched = merge_;
            touched_.push_back(number);
        }
    }

    void remove(Id left, Id right, std::uint64_t count) {
        const std::uint32_t number = index_.find(left, right);
        // The pair that is being merged counts nothing any more.
        if (number != PairIndex::kNone && number != merging_) pairs_[number].count -= count;
    }

    void enqueue(std::uint32_t number) {
        const Pair& pair = pairs_[number];
        if (pair.count >= min_frequency_)
            queue_.push({order_.worth(pair), order_.tie(pair), number});
    }

    std::uint32_t take_best() {
        while (!queue_.empty()) {
            const Entry entry = queue_.top();
            queue_.pop();
            Pair& pair = pairs_[entry.pair];
            if (pair.count == 0) continue;
            if constexpr (Order::kByPlace) {
                while (!stands(pair, pair.places[pair.first])) ++pair.first;
            }
            const std::uint64_t worth = order_.worth(pair);
            if (worth == entry.worth && order_.tie(pair) == entry.tie &&
                pair.count >= min_frequency_) {
                return entry.pair;
            }
            // A pair that gained was queued again when it did.
            if (worth <= entry.worth) enqueue(entry.pair);
        }
        return PairIndex::kNone;
    }

    // Whether the pair still stands at this place.
    bool stands(const Pair& pair, Place place) const {
        if (cells_[place].id != pair.left) return false;
        const std::size_t middle = place + lengths_[pair.left];
        return middle < cells_.size() && cells_[middle].chunk == cells_[place].chunk &&
               cells_[middle].id == pair.right;
    }

    void apply(std::uint32_t number, Id id) {
        ++merge_;
        merging_ = number;
        if constexpr (Order::kRelative) {
            order_.symbol_counts.push_back(0);
            pairs_of_.emplace_back();
        }
        const Pair pair = std::move(pairs_[number]);
        pairs_[number] = {pair.left, pair.right, 0, {}, 0, pair.touched, pair.spelled};
        // The places ascend, as they must for overlaps to be merged from the left: all of them were
        // noted by one merge, the one that made the younger of the two ids.
        for (std::size_t i = pair.first; i < pair.places.size(); ++i) {
            if (stands(pair, pair.places[i])) join(pair, pair.places[i], id);
        }
        merging_ = PairIndex::kNone;
        for (const std::uint32_t touched : touched_) enqueue(touched);
        touched_.clear();
        if constexpr (Order::kRelative) {
            enqueue_all_of(pair.left);
            if (pair.left != pair.right) enqueue_all_of(pair.right);
        }
    }

    void join(const Pair& pair, Place place, Id id) {
        const std::uint32_t chunk = cells_[place].chunk;
        const std::uint64_t count = chunks_.counts[chunk];
        const std::size_t middle = place + lengths_[pair.left];
        const std::size_t after = middle + lengths_[pair.right];
        if (place > 0 && cells_[place - 1].chunk == chunk) {
            const Id before = cells_[place - 1].id & ~kNoStart;
            remove(before, pair.left, count);
            add(before, id, count, place - lengths_[before]);
        }
        if (after < cells_.size() && cells_[after].chunk == chunk) {
            remove(pair.right, cells_[after].id, count);
            add(id, cells_[after].id, count, place);
        }
        cells_[middle - 1].id = cells_[middle].id = kNoStart;
        cells_[after - 1].id = id | kNoStart;
        cells_[place].id = id;
        total_ -= count;
        if constexpr (Order::kRelative) {
            order_.symbol_counts[pair.left] -= count;
            order_.symbol_counts[pair.right] -= count;
            order_.symbol_counts[id] += count;
        }
    }

    // A symbol became rarer: all pairs that hold it are worth more. Those that are gone stay so.
    void enqueue_all_of(Id id) {
        std::erase_if(pairs_of_[id], [&](std::uint32_t pair) { return pairs_[pair].count == 0; });
        for (const std::uint32_t pair : pairs_of_[id]) enqueue(pair);
    }

    const Counted<Symbol>& chunks_;
    Order& order_;
    std::size_t alphabet_;
    std::uint64_t min_frequency_;
    std::vector<std::size_t> lengths_;  // of each id, in cells

    std::vector<Cell> cells_;
    PairIndex index_;
    std::vector<Pair> pairs_;
    std::priority_queue<Entry, std::vector<Entry>, Worse> queue_;
    std::vector<std::uint32_t> touched_;  // pairs that the present merge made or added to
    std::vector<std::vector<std::uint32_t>> pairs_of_;  // the pairs that hold each id, if kRelative
    std::uint32_t merge_ = 1;
    std::uint32_t merging_ = PairIndex::kNone;
    std::uint64_t total_ = 0;
};

}  // namespace toksmith::bpe

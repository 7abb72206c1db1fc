// A priority queue of pairs whose worth changes over time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <queue>
#include <utility>
#include <vector>

#include "base/stop.hpp"
#include "training/bpe/pair.hpp"
#include "training/bpe/pair_index.hpp"

namespace toksmith::bpe {

// MergeCriterion defines the best pair; see merge_trainer.hpp.
template <typename MergeCriterion>
class PairQueue {
 public:
    // Ignores pairs with a count below `min_frequency`, which is at least 1.
    PairQueue(const MergeCriterion& criterion, const Pairs& pairs, std::uint64_t min_frequency)
        : criterion_(criterion),
          pairs_(pairs),
          min_frequency_(min_frequency),
          queue_(Worse{this}),
          waiting_(MergeCriterion::kMagnitudes) {}

    // Adds a new pair, or one whose worth may have risen if kRelative.
    void add(std::uint32_t number) {
        const Pair& pair = pairs_[number];
        if (pair.count < min_frequency_) return;
        const std::uint64_t worth = criterion_.worth(pair);
        const std::size_t magnitude = MergeCriterion::magnitude(worth);
        const bool waits = magnitude < magnitude_;
        if constexpr (MergeCriterion::kRelative) {
            if (listed_.size() <= number) listed_.resize(number + 1);
            if (worth <= listed_[number]) return;
            listed_[number] = waits ? MergeCriterion::most(magnitude) : worth;
        }
        if (waits) {
            waiting_[magnitude].push_back(number);
        } else {
            queue_.push({worth, criterion_.tie(pair), number});
        }
    }

    // Removes and returns the best pair, or kNone. Calls settle(number) before it reads the tie of
    // a pair.
    template <typename Settle>
    std::uint32_t take_best(Settle settle) {
        while (fill()) {
            const Entry entry = queue_.top();
            queue_.pop();
            const Pair& pair = pairs_[entry.pair];
            if (pair.count == 0) continue;
            if constexpr (MergeCriterion::kRelative) {
                if (!take_from_list(entry.pair, entry.worth)) continue;
            }
            settle(entry.pair);
            if (criterion_.worth(pair) == entry.worth && criterion_.tie(pair) == entry.tie &&
                pair.count >= min_frequency_) {
                return entry.pair;
            }
            add(entry.pair);
        }
        return PairIndex::kNone;
    }

 private:
    // The worth and tie of a pair when it was added. If they have changed since, the pair has
    // become worse. So if the top entry is still accurate, its pair is the best.
    struct Entry {
        std::uint64_t worth;
        std::uint64_t tie;
        std::uint32_t pair;
    };

    struct Worse {
        const PairQueue* of;
        bool operator()(const Entry& a, const Entry& b) const {
            if (a.worth != b.worth) return a.worth < b.worth;
            if (a.tie != b.tie) return a.tie > b.tie;
            if constexpr (MergeCriterion::kFullTies) {
                const Pair &left = of->pairs_[a.pair], &right = of->pairs_[b.pair];
                if (of->criterion_.before(right, left)) return true;
                if (of->criterion_.before(left, right)) return false;
            }
            return a.pair > b.pair;
        }
    };

    // Moves the pairs of the next lower magnitude into the queue. Returns false if none are left.
    bool fill() {
        while (queue_.empty() && magnitude_ > 0) {
            const std::vector<std::uint32_t> pairs = std::move(waiting_[--magnitude_]);
            InterruptionPoints<4096> points;
            for (const std::uint32_t pair : pairs) {
                points.step();
                if constexpr (MergeCriterion::kRelative) {
                    if (!take_from_list(pair, MergeCriterion::most(magnitude_))) continue;
                }
                add(pair);
            }
        }
        return !queue_.empty();
    }

    // Whether this entry is the current one of its pair. If so, removes it from listed_.
    bool take_from_list(std::uint32_t number, std::uint64_t worth) {
        if (listed_[number] != worth) return false;
        listed_[number] = 0;
        return true;
    }

    const MergeCriterion& criterion_;
    const Pairs& pairs_;
    std::uint64_t min_frequency_;
    // The pairs of the highest magnitude. The other pairs wait in lists, one for each magnitude.
    std::priority_queue<Entry, std::vector<Entry>, Worse> queue_;
    std::vector<std::vector<std::uint32_t>> waiting_;
    std::size_t magnitude_ = waiting_.size();
    // Only if kRelative, where worth can rise: for each pair, the highest worth of its entries in
    // queue_ and waiting_. Lower entries are outdated. 0: no entry.
    std::vector<std::uint64_t> listed_;
};

}  // namespace toksmith::bpe

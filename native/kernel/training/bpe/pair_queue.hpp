// A priority queue of pairs whose worth changes.
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
    // Pairs with a count below `min_frequency`, at least 1, are left out.
    PairQueue(const MergeCriterion& criterion, const Pairs& pairs, std::uint64_t min_frequency)
        : criterion_(criterion),
          pairs_(pairs),
          min_frequency_(min_frequency),
          queue_(Worse{this}),
          waiting_(MergeCriterion::kMagnitudes) {}

    // Adds a new pair or, if kRelative, one whose worth may have risen.
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

    // Removes the best pair and returns it; kNone if there is none. Calls settle(number) for a pair
    // before its tie is read.
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
    // The worth and tie of a pair when it was added. They may be outdated, but never understate the
    // pair; so if the top entry is still accurate, it is the best.
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

    // Moves the pairs of the next lower magnitude into the queue. Returns false if there are none.
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

    // Whether this entry of the pair is the current one; then it is removed.
    bool take_from_list(std::uint32_t number, std::uint64_t worth) {
        if (listed_[number] != worth) return false;
        listed_[number] = 0;
        return true;
    }

    const MergeCriterion& criterion_;
    const Pairs& pairs_;
    std::uint64_t min_frequency_;
    // Pairs that may be the best soon. The others wait, by the magnitude of their worth.
    std::priority_queue<Entry, std::vector<Entry>, Worse> queue_;
    std::vector<std::vector<std::uint32_t>> waiting_;
    std::size_t magnitude_ = waiting_.size();
    // If kRelative, where worth can rise: the highest worth that queue_ or waiting_ has for each
    // pair; lower entries are stale. 0: no entry.
    std::vector<std::uint64_t> listed_;
};

}  // namespace toksmith::bpe

// The best pair first, of pairs whose worth changes all the time.
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

// An Order says which pair is the best; see merge_trainer.hpp.
template <typename MergeCriterion>
class PairQueue {
 public:
    // Pairs whose count is lower than `min_frequency`, at least 1, are left out.
    PairQueue(const MergeCriterion& criterion, const Pairs& pairs, std::uint64_t min_frequency)
        : criterion_(criterion),
          pairs_(pairs),
          min_frequency_(min_frequency),
          queue_(Worse{this}),
          waiting_(MergeCriterion::kMagnitudes) {}

    // Adds a pair that is new or, if kRelative, may be worth more than before.
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

    // Takes the best pair out; kNone: there is none. Calls settle(number) for a pair before its tie
    // is looked at.
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
    // What the queue knows of a pair. It may be worth too much or too early in place, never the
    // other way round, so an entry that proves true at the top is the best.
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

    // Lets the pairs of the next lower magnitude into the queue. False: there are none.
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

    // Whether what says that the pair is worth so much still holds; then it is taken away.
    bool take_from_list(std::uint32_t number, std::uint64_t worth) {
        if (listed_[number] != worth) return false;
        listed_[number] = 0;
        return true;
    }

    const MergeCriterion& criterion_;
    const Pairs& pairs_;
    std::uint64_t min_frequency_;
    // Pairs that may be the best soon; the others wait, by the magnitude of their worth.
    std::priority_queue<Entry, std::vector<Entry>, Worse> queue_;
    std::vector<std::vector<std::uint32_t>> waiting_;
    std::size_t magnitude_ = waiting_.size();
    // If kRelative, where worth rises too: the most that queue_ or waiting_ say of each pair; what
    // says less is out of date; 0: they do not name it.
    std::vector<std::uint64_t> listed_;
};

}  // namespace toksmith::bpe

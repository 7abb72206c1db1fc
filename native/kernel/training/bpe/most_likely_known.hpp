// The criterion of a phase that knows the counts of some pairs only (see likely_phases.hpp).
#pragma once

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <utility>
#include <vector>

#include "models/bpe/pair_table.hpp"
#include "training/bpe/merge_criteria.hpp"
#include "training/bpe/text_pairs.hpp"

namespace toksmith::bpe {

// MostLikely, as long as the best pair is covered and surely better than all unknown pairs.
//
// The likelihood of an unknown pair (a, b) was at most sqrt(m(a) * m(b)) when the phase started,
// where m(a) is the highest one of an unknown pair of a. Its count only falls. So if the count of a
// symbol falls to one r-th, the likelihood of its pairs rises at most r times.
class MostLikelyKnown : public MostLikely {
 public:
    // Starts a phase. Then all unknown pairs are noted.
    void begin() {
        start_ = symbol_counts;
        roots_.assign(symbol_counts.size(), 0);
        twins_.assign(symbol_counts.size(), 0);
        changed_[0] = changed_[1] = kNone;
    }
    // `pair.worth` is known.
    void note_unknown(const TextPair& pair) {
        const double worth = std::bit_cast<double>(pair.worth) * kRounding;
        for (const Id id : {pair.left, pair.right}) roots_[id] = std::max(roots_[id], worth);
        if (pair.left == pair.right) twins_[pair.left] = worth;
    }
    // `covered`: the known pairs that may merge in this phase.
    void end_noting(const PairTable& covered) {
        covered_ = &covered;
        for (double& root : roots_) root = std::sqrt(root);
        risen_ = roots_;
        find_highest();
        highest_twin_ = *std::max_element(twins_.begin(), twins_.end());
    }

    void made(Id left, Id right) {
        changed_[0] = left;
        changed_[1] = right;
    }
    bool is_best(const Pair& pair) {
        const bool is_old = pair.left < roots_.size() && pair.right < roots_.size();
        if (is_old && covered_->find(pair.left, pair.right).rank == kNoRank) return false;
        for (Id& id : changed_) note_change(std::exchange(id, kNone));
        const double bound = std::max(value(highest_) * value(second_), highest_twin_);
        return std::bit_cast<double>(worth(pair)) > bound * kRounding;
    }

 private:
    static constexpr double kRounding = 1 + 1e-9;
    static constexpr Id kNone = 0xFFFFFFFFu;

    double value(Id id) const { return id < risen_.size() ? risen_[id] : 0; }
    void note_change(Id id) {
        if (id >= roots_.size()) return;  // none, or a new symbol, which has no unknown pairs
        if (symbol_counts[id] == 0) {     // no pairs are left
            risen_[id] = 0;
            if (id == highest_ || id == second_) find_highest();
            return;
        }
        const double times =
            static_cast<double>(start_[id]) / static_cast<double>(symbol_counts[id]);
        risen_[id] = roots_[id] * times;
        highest_twin_ = std::max(highest_twin_, twins_[id] * times * times);
        note_risen(id);
    }
    void note_risen(Id id) {
        if (id == highest_) return;
        if (value(id) > value(highest_)) {
            second_ = std::exchange(highest_, id);
        } else if (id != second_ && value(id) > value(second_)) {
            second_ = id;
        }
    }
    void find_highest() {
        highest_ = second_ = kNone;
        for (Id id = 0; id < risen_.size(); ++id) note_risen(id);
    }

    const PairTable* covered_ = nullptr;
    std::vector<std::uint64_t> start_;  // the counts of the symbols when the phase started
    std::vector<double> roots_;         // sqrt(m(a)) for each symbol a
    std::vector<double> risen_;         // the same, times the rise of its pairs since the start
    std::vector<double> twins_;         // the likelihood of (a, a) at the start, if it is unknown
    Id highest_ = kNone, second_ = kNone;  // the symbols with the highest values of risen_
    double highest_twin_ = 0;
    Id changed_[2] = {kNone, kNone};  // by the last merge
};

}  // namespace toksmith::bpe

// Criteria for MergeTrainer, which documents their members: which pairs may merge, and which pair
// is the best.
#pragma once

#include <algorithm>
#include <bit>
#include <cstdint>
#include <vector>

#include "training/bpe/merge_trainer.hpp"
#include "training/piece_rules.hpp"

namespace toksmith::bpe {

// For criteria whose worth of a pair is its count.
struct ByCount {
    static constexpr std::size_t kMagnitudes = 65;  // the number of bits of the count
    static std::size_t magnitude(std::uint64_t worth) {
        return static_cast<std::size_t>(std::bit_width(worth));
    }
    std::uint64_t worth(const Pair& pair) const { return pair.count; }
};

// The most frequent pair. Of pairs with equal counts, the one that occurs first in the text, or the
// one with the lower ids, where `alphabet.places` orders the initial symbols.
template <bool kFirstSeen>
class MostFrequent : public ByCount {
 public:
    static constexpr bool kByPlace = kFirstSeen;
    static constexpr bool kRelative = false;
    static constexpr bool kFullTies = false;

    // `longest`: the maximum length of a token; 0: no limit.
    MostFrequent(const Alphabet& alphabet, std::size_t longest)
        : longest_(longest), places_(alphabet.places) {
        if (longest == 0) return;
        lengths_.assign(alphabet.lengths.begin(), alphabet.lengths.end());
        lengths_.resize(alphabet.size, 1);
    }

    bool allowed(Id left, Id right) const {
        return longest_ == 0 || lengths_[left] + lengths_[right] <= longest_;
    }
    void made(Id left, Id right) {
        if (longest_) lengths_.push_back(lengths_[left] + lengths_[right]);
    }
    std::uint64_t tie(const Pair& pair) const {
        if constexpr (kFirstSeen) return *pair.places;
        const auto criterion = [&](Id id) -> std::uint64_t {
            return id < places_.size() ? places_[id] : id;
        };
        return criterion(pair.left) << 32 | criterion(pair.right);
    }

 private:
    std::size_t longest_;
    std::vector<std::size_t> lengths_;
    std::vector<std::uint32_t> places_;
};

// The pair with the highest count(pair) / (count(left) · count(right)), computed in double. Of
// pairs with equal worth, the more frequent one, then the one with the lower ids.
class MostLikely {
 public:
    static constexpr bool kByPlace = false;
    static constexpr bool kRelative = true;
    static constexpr bool kFullTies = true;
    // By sign, exponent and the first bits of the fraction of the double.
    static constexpr std::size_t kMagnitudes = std::size_t{1} << 14;
    static std::size_t magnitude(std::uint64_t worth) { return worth >> 50; }
    static std::uint64_t most(std::size_t magnitude) {
        return ((std::uint64_t{magnitude} + 1) << 50) - 1;
    }

    bool allowed(Id, Id) const { return true; }
    void made(Id, Id) {}
    // Positive doubles are ordered like their bit patterns.
    std::uint64_t worth(const Pair& pair) const {
        const double both = static_cast<double>(symbol_counts[pair.left]) *
                            static_cast<double>(symbol_counts[pair.right]);
        return std::bit_cast<std::uint64_t>(static_cast<double>(pair.count) / both);
    }
    std::uint64_t tie(const Pair& pair) const { return ~pair.count; }
    bool before(const Pair& a, const Pair& b) const {
        return a.left != b.left ? a.left < b.left : a.right < b.right;
    }

    std::vector<std::uint64_t> symbol_counts;  // in the whole text
};

// SentencePiece's criterion: the most frequent pair that makes a valid piece; then the shortest;
// then the first by the ids of its initial symbols; then the one whose newer half is older; then
// the one with the lower left id.
class MostFrequentPiece : public ByCount {
 public:
    static constexpr bool kByPlace = false;
    static constexpr bool kRelative = false;
    static constexpr bool kFullTies = true;

    MostFrequentPiece(std::vector<PieceTraits> alphabet, const PieceRules& rules)
        : traits_(std::move(alphabet)), rules_(rules) {
        for (Id id = 0; id < traits_.size(); ++id) {
            spelled_.push_back(id);
            ends_.push_back(spelled_.size());
        }
    }

    bool allowed(Id left, Id right) const { return rules_.allow(traits_[left], traits_[right]); }
    bool apart(Id left, Id right) const { return rules_.apart(traits_[left], traits_[right]); }
    void made(Id left, Id right) {
        traits_.push_back(joined(traits_[left], traits_[right]));
        for (const Id half : {left, right}) {
            // By index: the vector may move as it grows.
            for (std::size_t i = start(half); i < ends_[half]; ++i) spelled_.push_back(spelled_[i]);
        }
        ends_.push_back(spelled_.size());
    }
    // The length and the first two symbols of the piece, which decide most ties.
    std::uint64_t tie(const Pair& pair) const {
        const std::uint64_t first = std::min<std::uint64_t>(symbol(pair, 0), kMostShown);
        const std::uint64_t second = std::min<std::uint64_t>(symbol(pair, 1), kMostShown);
        return std::uint64_t{length(pair)} << 48 | first << 24 | (first < kMostShown ? second : 0);
    }
    // Of pairs with equal lengths.
    bool before(const Pair& a, const Pair& b) const {
        for (std::uint32_t i = 0; i < length(a); ++i) {
            const Id left = symbol(a, i), right = symbol(b, i);
            if (left != right) return left < right;
        }
        const Id newer = std::max(a.left, a.right), other = std::max(b.left, b.right);
        return newer != other ? newer < other : a.left < b.left;
    }

 private:
    static constexpr std::uint64_t kMostShown = (std::uint64_t{1} << 24) - 1;

    std::size_t start(Id id) const { return id > 0 ? ends_[id - 1] : 0; }
    std::uint32_t length(const Pair& pair) const {
        return std::uint32_t{traits_[pair.left].length} + traits_[pair.right].length;
    }
    // An initial symbol of a pair.
    Id symbol(const Pair& pair, std::size_t i) const {
        const std::size_t left = traits_[pair.left].length;
        return spelled_[i < left ? start(pair.left) + i : start(pair.right) + i - left];
    }

    std::vector<PieceTraits> traits_;
    PieceRules rules_;
    std::vector<Id> spelled_;        // the initial symbols of all symbols, concatenated
    std::vector<std::size_t> ends_;  // of each in spelled_
};

}  // namespace toksmith::bpe

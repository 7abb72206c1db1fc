#include "train/bpe_trainer.hpp"

#include <algorithm>
#include <queue>
#include <stdexcept>

#include "train/pair_index.hpp"

namespace toksmith::bpe {
namespace {

using Place = std::uint32_t;

// All chunks stand end to end, one cell a byte, in the order in which they were first seen: so the
// smallest place of a pair is where the text first shows it. As in merge_long, a symbol's id is in
// its first cell and, marked, in its last.
constexpr Id kNoStart = 0x80000000u;

struct Cell {
    Id id;
    std::uint32_t chunk;
};

struct Pair {
    Id left, right;
    std::uint64_t count = 0;
    std::vector<Place> places;  // some may be out of date
    std::size_t first = 0;      // places before this index are out of date
    std::size_t touched = 0;    // by which merge
};

// What the queue knows of a pair. It may be too high in count or too early in place, never the
// other way round, so an entry that proves true at the top is the best.
struct Entry {
    std::uint64_t count;
    std::uint64_t tie;
    std::uint32_t pair;

    bool operator<(const Entry& other) const {
        if (count != other.count) return count < other.count;
        if (tie != other.tie) return tie > other.tie;
        return pair > other.pair;
    }
};

// Where Hugging Face's byte alphabet puts each byte: printable Latin-1 first, then the rest.
std::uint32_t alphabet_order(Id id) {
    const auto printable = [](Id b) {
        return (b >= 0x21 && b <= 0x7E) || (b >= 0xA1 && b <= 0xAC) || b >= 0xAE;
    };
    if (id > 255) return id;
    std::uint32_t order = printable(id) ? 0 : 188;
    for (Id b = 0; b < id; ++b) order += printable(b) == printable(id);
    return order;
}

class Trainer {
 public:
    Trainer(const CountedChunks& chunks, const TrainingOptions& options)
        : chunks_(chunks), options_(options), lengths_(256, 1) {
        for (Id byte = 0; byte < 256; ++byte) order_[byte] = alphabet_order(byte);
        lay_out();
        for (std::uint32_t pair = 0; pair < pairs_.size(); ++pair) enqueue(pair);
    }

    Training run(const Watch& watch) {
        Training result;
        while (lengths_.size() < 256 + options_.tokens) {
            const std::uint32_t best = take_best();
            if (best == PairIndex::kNone) break;
            const std::uint64_t count = pairs_[best].count;
            const MergeRule rule{pairs_[best].left, pairs_[best].right,
                                 static_cast<Id>(lengths_.size())};
            lengths_.push_back(lengths_[rule.left] + lengths_[rule.right]);
            apply(best, rule.id);
            result.merges.push_back(rule);
            result.counts.push_back(count);
            result.tokens.push_back(total_);
            if (watch && !watch(rule, count)) break;
        }
        return result;
    }

 private:
    void lay_out() {
        const std::uint64_t size = chunks_.ends.empty() ? 0 : chunks_.ends.back();
        if (size >= kNoStart) {
            throw std::length_error(
                "the distinct chunks come to 2 GiB or more, which training cannot hold: use a "
                "split "
                "pattern, or drop the rare chunks");
        }
        cells_.resize(size);
        std::uint64_t start = 0;
        for (std::uint32_t chunk = 0; chunk < chunks_.ends.size(); ++chunk) {
            const std::uint64_t end = chunks_.ends[chunk];
            for (std::uint64_t i = start; i < end; ++i) cells_[i] = {chunks_.bytes[i], chunk};
            for (std::uint64_t i = start; i + 1 < end; ++i) {
                add(chunks_.bytes[i], chunks_.bytes[i + 1], chunks_.counts[chunk], i);
            }
            total_ += chunks_.counts[chunk] * (end - start);
            start = end;
        }
        touched_.clear();
    }

    bool allowed(Id left, Id right) const {
        return options_.max_token_length == 0 ||
               lengths_[left] + lengths_[right] <= options_.max_token_length;
    }

    void add(Id left, Id right, std::uint64_t count, std::size_t place) {
        if (!allowed(left, right)) return;
        const std::uint32_t number = index_.find_or_add(left, right);
        if (number == pairs_.size()) pairs_.push_back({left, right, 0, {}, 0, 0});
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

    std::uint64_t tie(const Pair& pair) const {
        if (options_.ties == Ties::kFirstSeen) return pair.places[pair.first];
        const auto order = [&](Id id) -> std::uint64_t { return id < 256 ? order_[id] : id; };
        return order(pair.left) << 32 | order(pair.right);
    }

    void enqueue(std::uint32_t number) {
        const Pair& pair = pairs_[number];
        if (pair.count >= std::max<std::uint64_t>(1, options_.min_frequency)) {
            queue_.push({pair.count, tie(pair), number});
        }
    }

    std::uint32_t take_best() {
        while (!queue_.empty()) {
            const Entry entry = queue_.top();
            queue_.pop();
            Pair& pair = pairs_[entry.pair];
            if (pair.count == 0) continue;
            if (options_.ties == Ties::kFirstSeen) {
                while (!stands(pair, pair.places[pair.first])) ++pair.first;
            }
            if (pair.count == entry.count && tie(pair) == entry.tie) return entry.pair;
            enqueue(entry.pair);
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
        const Pair pair = std::move(pairs_[number]);
        pairs_[number] = {pair.left, pair.right, 0, {}, 0, pair.touched};
        // The places ascend, as they must for overlaps to be merged from the left: all of them were
        // noted by one merge, the one that made the younger of the two ids.
        for (std::size_t i = pair.first; i < pair.places.size(); ++i) {
            if (stands(pair, pair.places[i])) join(pair, pair.places[i], id);
        }
        merging_ = PairIndex::kNone;
        for (const std::uint32_t touched : touched_) enqueue(touched);
        touched_.clear();
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
    }

    const CountedChunks& chunks_;
    const TrainingOptions& options_;
    std::vector<std::size_t> lengths_;  // of each id, in bytes
    std::array<std::uint32_t, 256> order_;

    std::vector<Cell> cells_;
    PairIndex index_;
    std::vector<Pair> pairs_;
    std::priority_queue<Entry> queue_;
    std::vector<std::uint32_t> touched_;  // pairs that the present merge made or added to
    std::size_t merge_ = 1;
    std::uint32_t merging_ = PairIndex::kNone;
    std::uint64_t total_ = 0;
};

}  // namespace

Training train(const CountedChunks& chunks, const TrainingOptions& options, const Watch& watch) {
    return Trainer(chunks, options).run(watch);
}

}  // namespace toksmith::bpe

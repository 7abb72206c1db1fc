// Training by merging: the best pair of neighbours becomes one symbol, again and again.
//
// Which pairs may merge, and which of them is the best, an Order says (see orders.hpp):
//   allowed(left, right)   whether the two may become one symbol
//   made(left, right)      they did; its id is the next
//   worth(pair), tie(pair) the best pair has the highest worth, then the lowest tie
//   magnitude(worth)       below kMagnitudes, and never lower for a higher worth
//   most(magnitude)        if kRelative: the highest worth of that magnitude
//   before(a, b)           then, if kFullTies, this decides, and at last the number of the pair
//   kByPlace               ties are the first place, which must be one where the pair still stands
//   kRelative              worth() also asks how often each symbol stands, and may rise
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <queue>
#include <stdexcept>
#include <utility>
#include <vector>

#include "train/cells.hpp"
#include "train/first_pairs.hpp"
#include "train/pair_index.hpp"
#include "train/place_arena.hpp"
#include "train/training.hpp"

namespace toksmith::bpe {

// All places of a pair were noted by one merge, the one that made the younger of its ids, so its
// count only ever falls, and its places ascend.
struct Pair {
    Id left, right;
    std::uint64_t count;
    const Place* places;  // some may be out of date
    std::uint32_t size;   // how many
    Place spelled;        // a place where its text stands, merged or not
};

template <typename Symbol, typename Order>
class MergeTrainer {
 public:
    // `alphabet`: the ids below it are symbols of the chunks; new ids follow.
    MergeTrainer(const Counted<Symbol>& chunks, std::size_t alphabet, std::uint64_t min_frequency,
                 Order& order)
        : order_(order),
          alphabet_(alphabet),
          min_frequency_(std::max<std::uint64_t>(1, min_frequency)),
          lengths_(alphabet, 1),
          cells_(chunks),
          queue_(Worse{this}) {
        if constexpr (Order::kRelative) {
            order_.symbol_counts.assign(alphabet, 0);
            pairs_of_.resize(alphabet);
        }
        find_pairs(chunks);
        enough_places_ = arena_.taken() / 4 * 5;
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
            if (arena_.taken() > std::max(enough_places_, kFewPlaces)) drop_old_places();
            result.merges.push_back(rule);
            result.counts.push_back(count);
            result.tokens.push_back(total_);
            if (watch && !watch(result)) break;
        }
        return result;
    }

 private:
    static constexpr std::size_t kAhead = 16;  // places that are asked for ahead
    static constexpr std::size_t kFewPlaces = std::size_t{1} << 24;  // not worth to be sifted

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
                const Pair &left = trainer->pairs_[a.pair], &right = trainer->pairs_[b.pair];
                if (trainer->order_.before(right, left)) return true;
                if (trainer->order_.before(left, right)) return false;
            }
            return a.pair > b.pair;
        }
    };

    // An id that stood beside the pair that is being merged.
    struct Neighbour {
        std::uint32_t merge = 0;  // by which it was seen last
        std::uint32_t pair = 0;   // the new pair with it; kNone: may not merge
        std::uint64_t count = 0;
    };

    // A place of a new pair.
    struct Noted {
        std::uint32_t pair;
        Place place;
    };

    void find_pairs(const Counted<Symbol>& chunks) {
        FirstPairs first(alphabet_);
        for_each_pair(chunks, [&](Id left, Id right, std::uint64_t count, std::size_t place) {
            const std::uint32_t number = first.find_or_add(
                left, right, [&] { return new_pair(left, right, static_cast<Place>(place)); });
            if (number == PairIndex::kNone) return;
            pairs_[number].count += count;
            ++pairs_[number].size;
        });
        std::vector<Place*> next;
        for (Pair& pair : pairs_) {
            next.push_back(arena_.take(pair.size));
            pair.places = next.back();
        }
        for_each_pair(chunks, [&](Id left, Id right, std::uint64_t, std::size_t place) {
            const std::uint32_t number = first.find(left, right);
            if (number != PairIndex::kNone) *next[number]++ = static_cast<Place>(place);
        });
        for (std::uint32_t i = 0; i < pairs_.size(); ++i) {
            index_.add(pairs_[i].left, pairs_[i].right, i);
        }
        std::uint64_t start = 0;
        for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
            const std::uint64_t end = chunks.ends[chunk], count = chunks.counts[chunk];
            total_ += count * (end - start);
            if constexpr (Order::kRelative) {
                for (std::uint64_t i = start; i < end; ++i) {
                    order_.symbol_counts[chunks.symbols[i]] += count;
                }
            }
            start = end;
        }
    }

    // The number of a pair that was not seen before; kNone: it may not merge.
    std::uint32_t new_pair(Id left, Id right, Place spelled) {
        if (!order_.allowed(left, right)) return PairIndex::kNone;
        const auto number = static_cast<std::uint32_t>(pairs_.size());
        pairs_.push_back({left, right, 0, nullptr, 0, spelled});
        if constexpr (Order::kRelative) {
            listed_.push_back(0);
            pairs_of_[left].push_back(number);
            if (left != right) pairs_of_[right].push_back(number);
        }
        return number;
    }

    void enqueue(std::uint32_t number) {
        const Pair& pair = pairs_[number];
        if (pair.count < min_frequency_) return;
        const std::uint64_t worth = order_.worth(pair);
        const std::size_t magnitude = Order::magnitude(worth);
        const bool waits = magnitude < magnitude_;
        if constexpr (Order::kRelative) {
            if (worth <= listed_[number]) return;
            listed_[number] = waits ? Order::most(magnitude) : worth;
        }
        if (waits) {
            waiting_[magnitude].push_back(number);
        } else {
            queue_.push({worth, order_.tie(pair), number});
        }
    }

    // Whether what says that the pair is worth so much still holds; then it is taken away.
    bool take_from_list(std::uint32_t number, std::uint64_t worth) {
        if (listed_[number] != worth) return false;
        listed_[number] = 0;
        return true;
    }

    // Lets the pairs of the next lower magnitude into the queue. False: there are none.
    bool fill_queue() {
        while (queue_.empty() && magnitude_ > 0) {
            const std::vector<std::uint32_t> pairs = std::move(waiting_[--magnitude_]);
            for (const std::uint32_t pair : pairs) {
                if constexpr (Order::kRelative) {
                    if (!take_from_list(pair, Order::most(magnitude_))) continue;
                }
                enqueue(pair);
            }
        }
        return !queue_.empty();
    }

    std::uint32_t take_best() {
        while (fill_queue()) {
            const Entry entry = queue_.top();
            queue_.pop();
            Pair& pair = pairs_[entry.pair];
            if (pair.count == 0) continue;
            if constexpr (Order::kRelative) {
                if (!take_from_list(entry.pair, entry.worth)) continue;
            }
            if constexpr (Order::kByPlace) {
                while (!stands(pair, *pair.places)) {
                    ++pair.places;
                    --pair.size;
                }
            }
            if (order_.worth(pair) == entry.worth && order_.tie(pair) == entry.tie &&
                pair.count >= min_frequency_) {
                return entry.pair;
            }
            enqueue(entry.pair);
        }
        return PairIndex::kNone;
    }

    // Whether the pair still stands at this place.
    bool stands(const Pair& pair, Place place) const {
        return cells_.starts(place, pair.left) &&
               cells_.goes_on(place + lengths_[pair.left], pair.right);
    }

    void apply(std::uint32_t number, Id id) {
        ++merge_;
        const Pair pair = pairs_[number];
        pairs_[number].count = 0;
        if constexpr (Order::kRelative) {
            order_.symbol_counts.push_back(0);
            pairs_of_.emplace_back();
        }
        before_.resize(lengths_.size());
        after_.resize(lengths_.size());
        first_new_ = pairs_.size();
        join_all(pair, id);
        keep_places();
        count_anew(number, pair, id);
        for (std::size_t i = first_new_; i < pairs_.size(); ++i) {
            enqueue(static_cast<std::uint32_t>(i));
        }
        if constexpr (Order::kRelative) {
            enqueue_all_of(pair.left);
            if (pair.left != pair.right) enqueue_all_of(pair.right);
        }
    }

    // Makes one symbol of the pair wherever it stands, from the left, and notes the new pairs.
    void join_all(const Pair& pair, Id id) {
        const std::uint32_t left = lengths_[pair.left], whole = left + lengths_[pair.right];
        std::uint64_t joined = 0;
        for (std::size_t i = 0; i < std::min<std::size_t>(kAhead, pair.size); ++i) {
            cells_.prefetch(pair.places[i]);
        }
        for (std::size_t i = 0; i < pair.size; ++i) {
            if (i + kAhead < pair.size) cells_.prefetch(pair.places[i + kAhead]);
            const Place place = pair.places[i];
            if (!stands(pair, place)) continue;
            const std::uint64_t count = cells_.count(place);
            if (!cells_.is_first(place)) {
                const Id other = cells_.id_before(place);
                note(before_, seen_before_, other, other, id, count, place - lengths_[other]);
            }
            if (!cells_.is_first(place + whole)) {
                const Id other = cells_.id_at(place + whole);
                note(after_, seen_after_, other, id, other, count, place);
            }
            cells_.join(place, left, whole, id);
            joined += count;
        }
        total_ -= joined;
        if constexpr (Order::kRelative) {
            order_.symbol_counts[pair.left] -= joined;
            order_.symbol_counts[pair.right] -= joined;
            order_.symbol_counts[id] += joined;
        }
    }

    void note(std::vector<Neighbour>& neighbours, std::vector<Id>& seen, Id other, Id left,
              Id right, std::uint64_t count, Place place) {
        Neighbour& neighbour = neighbours[other];
        if (neighbour.merge != merge_) {
            neighbour = {merge_, new_pair(left, right, place), 0};
            seen.push_back(other);
        }
        neighbour.count += count;
        if (neighbour.pair == PairIndex::kNone) return;
        ++pairs_[neighbour.pair].size;
        noted_.push_back({neighbour.pair, place});
    }

    // Puts the places that were noted into a list for each new pair.
    void keep_places() {
        Place* next = arena_.take(noted_.size());
        next_.clear();
        for (std::size_t i = first_new_; i < pairs_.size(); ++i) {
            pairs_[i].places = next;
            next_.push_back(next);
            next += pairs_[i].size;
        }
        for (const Noted& noted : noted_) *next_[noted.pair - first_new_]++ = noted.place;
        noted_.clear();
    }

    // Keeps the places that are not out of date. Lists stand in the order of their pairs' numbers,
    // so the old ones can go block by block.
    void drop_old_places() {
        PlaceArena old = std::exchange(arena_, PlaceArena());
        for (Pair& pair : pairs_) {
            const Place *const begin = pair.places, *const end = begin + pair.size;
            if (pair.count == 0) {
                pair.places = nullptr;
                pair.size = 0;
                continue;
            }
            old.drop_before(begin);
            Place* next = arena_.take(pair.size);
            pair.places = next;
            for (const Place* place = begin; place < end; ++place) {
                if (stands(pair, *place)) *next++ = *place;
            }
            const auto kept = static_cast<std::uint32_t>(next - pair.places);
            arena_.give_back(pair.size - kept);
            pair.size = kept;
        }
        enough_places_ = arena_.taken() / 2 * 3;
    }

    // What stood beside the halves of the pair now stands beside the whole. Memory is asked for
    // ahead: these pairs stand all over it.
    void count_anew(std::uint32_t merged, const Pair& pair, Id id) {
        for (std::size_t i = first_new_; i < pairs_.size(); ++i) {
            if (i + kAhead < pairs_.size()) {
                index_.prefetch(pairs_[i + kAhead].left, pairs_[i + kAhead].right);
            }
            Pair& made = pairs_[i];
            // A pair of the new id with itself was noted from its right half.
            made.count = made.right == id ? before_[made.left].count : after_[made.right].count;
            index_.add(made.left, made.right, static_cast<std::uint32_t>(i));
        }
        const auto subtract = [&](std::vector<Id>& seen, const std::vector<Neighbour>& neighbours,
                                  auto pair_with) {
            found_.clear();
            for (std::size_t i = 0; i < seen.size() + kAhead; ++i) {
                if (i < seen.size()) {
                    const auto [left, right] = pair_with(seen[i]);
                    index_.prefetch(left, right);
                }
                if (i < kAhead) continue;
                const auto [left, right] = pair_with(seen[i - kAhead]);
                found_.push_back(index_.find(left, right));
                if (found_.back() != PairIndex::kNone)
                    __builtin_prefetch(&pairs_[found_.back()], 1);
            }
            for (std::size_t i = 0; i < seen.size(); ++i) {
                // The pair that was merged counts nothing any more.
                if (found_[i] == PairIndex::kNone || found_[i] == merged) continue;
                pairs_[found_[i]].count -= neighbours[seen[i]].count;
            }
            seen.clear();
        };
        subtract(seen_before_, before_, [&](Id other) { return std::pair(other, pair.left); });
        subtract(seen_after_, after_, [&](Id other) { return std::pair(pair.right, other); });
    }

    // A symbol became rarer: all pairs that hold it are worth more. Those that are gone stay so.
    void enqueue_all_of(Id id) {
        std::erase_if(pairs_of_[id], [&](std::uint32_t pair) { return pairs_[pair].count == 0; });
        for (const std::uint32_t pair : pairs_of_[id]) enqueue(pair);
    }

    Order& order_;
    std::size_t alphabet_;
    std::uint64_t min_frequency_;
    std::vector<std::uint32_t> lengths_;  // of each id, in cells

    Cells cells_;
    PairIndex index_;
    PlaceArena arena_;
    std::size_t enough_places_ = 0;  // with more, those that are out of date are dropped
    std::vector<Pair> pairs_;
    // Pairs that may be the best soon; the others wait, by the magnitude of their worth.
    std::priority_queue<Entry, std::vector<Entry>, Worse> queue_;
    std::array<std::vector<std::uint32_t>, Order::kMagnitudes> waiting_;
    std::size_t magnitude_ = waiting_.size();
    // If kRelative, where worth rises too: the most that queue or waiting_ say of each pair (what
    // says less is out of date; 0: they do not name it), and the pairs that hold each id.
    std::vector<std::uint64_t> listed_;
    std::vector<std::vector<std::uint32_t>> pairs_of_;
    std::uint64_t total_ = 0;

    // Of the present merge:
    std::uint32_t merge_ = 0;
    std::size_t first_new_ = 0;              // the first of the new pairs
    std::vector<Neighbour> before_, after_;  // by id
    std::vector<Id> seen_before_, seen_after_;
    std::vector<std::uint32_t> found_;
    std::vector<Noted> noted_;
    std::vector<Place*> next_;
};

}  // namespace toksmith::bpe

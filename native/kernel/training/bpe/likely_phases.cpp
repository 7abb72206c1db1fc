#include "training/bpe/likely_phases.hpp"

#include <algorithm>
#include <atomic>
#include <mutex>
#include <numeric>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "training/bpe/first_pairs.hpp"
#include "training/bpe/frequent_segments.hpp"
#include "training/bpe/merge_blocks.hpp"
#include "training/bpe/merge_trainer.hpp"
#include "training/bpe/most_likely_known.hpp"
#include "training/bpe/text_pairs.hpp"

namespace toksmith::bpe {
namespace {

// The order in which MostLikely merges.
bool is_better(const TextPair& a, const TextPair& b) {
    if (a.worth != b.worth) return a.worth > b.worth;
    if (a.count != b.count) return a.count > b.count;
    return a.left != b.left ? a.left < b.left : a.right < b.right;
}

class LikelyPhaseTrainer {
 public:
    LikelyPhaseTrainer(ChunkStore& store, std::size_t alphabet, std::uint64_t min_frequency,
                       const Sharing& sharing, std::size_t memory)
        : store_(store),
          alphabet_(alphabet),
          min_frequency_(std::max<std::uint64_t>(1, min_frequency)),
          sharing_(sharing),
          threads_(std::clamp<std::size_t>(sharing.threads, 1,
                                           std::max<std::size_t>(1, store.blocks()))),
          memory_(memory),
          room_(memory / 8 * 6 / kTrainingBytes),
          parts_(threads_) {}

    Training run(std::size_t tokens, const Watch& watch) {
        Training result;
        keep_at_stop(watch, result, [&] { run(tokens, watch, result); });
        return result;
    }

 private:
    void run(std::size_t tokens, const Watch& watch, Training& result) {
        count_symbols();
        total_ = store_.tokens();
        for (std::size_t applied = 0; result.merges.size() < tokens;) {
            pages::return_freed();
            const std::size_t before = result.merges.size();
            apply(std::exchange(applied, before), result);
            find_best();
            if (best_.empty()) return;
            if (best_.front().size <= room_ && !learn(tokens - before, watch, result)) return;
            if (result.merges.size() > before) continue;
            merge_best(result);
            applied = result.merges.size();
            if (watch && !watch(result)) return;
        }
    }

    void count_symbols() {
        criterion_.symbol_counts = store_.singles();
        criterion_.symbol_counts.resize(alphabet_);
        ChunkStore::Chunks chunks;
        for (std::size_t block = 0; block < store_.blocks(); ++block) {
            store_.read(block, chunks);
            for_each_symbol(chunks, [](std::uint64_t& sum, std::uint64_t count) { sum += count; });
        }
    }
    // Calls visit(count of the symbol in the text, count of the chunk).
    template <typename Visit>
    void for_each_symbol(const ChunkStore::Chunks& chunks, Visit visit) {
        InterruptionPoints<4096> points;
        std::size_t i = 0;
        for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
            points.step();
            for (; i < chunks.ends[chunk]; ++i) {
                visit(criterion_.symbol_counts[chunks.symbols[i]], chunks.counts[chunk]);
            }
        }
    }

    // Applies the merges from `first` on to all chunks. Returns the number of joined tokens.
    std::uint64_t apply(std::size_t first, const Training& learned) {
        return merge_blocks(store_, learned, first, threads_,
                            [](std::size_t, const ChunkStore::Chunks&) {});
    }

    // Counts all pairs, keeps the best ones, and notes the others as unknown.
    void find_best() {
        while (true) {
            criterion_.begin();
            best_.clear();
            std::atomic<bool> full{false};
            for_each_on_threads(threads_, parts_, [&](std::size_t part) {
                TextPairCounter counter(part, parts_);
                ChunkStore::Chunks chunks;
                for (std::size_t block = 0; block < store_.blocks() && !full; ++block) {
                    store_.read(block, chunks);
                    counter.add(chunks);
                    if (counter.memory() > memory_ / 2 / threads_ && parts_ < kMostParts) {
                        full = true;
                    }
                    interruption_point();
                }
                if (!full) add(counter.pairs());
            });
            if (!full) break;
            parts_ *= 2;
        }
        keep_best();
    }
    void add(const std::vector<TextPair>& pairs) {
        const std::lock_guard lock(guard_);
        for (TextPair pair : pairs) {
            if (pair.count < min_frequency_) continue;
            pair.worth = criterion_.worth({pair.left, pair.right, pair.count, nullptr, 0});
            best_.push_back(pair);
            if (best_.size() >= 2 * most_known()) keep_best();
        }
    }
    void keep_best() {
        std::sort(best_.begin(), best_.end(), is_better);
        for (std::size_t i = most_known(); i < best_.size(); ++i) criterion_.note_unknown(best_[i]);
        best_.resize(std::min(best_.size(), most_known()));
    }
    std::size_t most_known() const { return memory_ / 8 / kKnownBytes + 1; }

    // Learns from the words that hold covered pairs. Returns false if `watch` ends the training.
    bool learn(std::size_t tokens, const Watch& watch, Training& result) {
        std::vector<bool> is_covered = choose();
        PairTable covered(best_.size());
        const auto cover = [&](std::size_t i) {
            covered.insert(best_[i].left, best_[i].right, {0, 0});
        };
        for (std::size_t i = 0; i < best_.size(); ++i) {
            if (is_covered[i]) cover(i);
        }
        ChunkStore::Chunks words = words_with(covered);
        const std::vector<std::uint64_t> outside = counts_outside(words);
        for (std::size_t i = 0; i < best_.size(); ++i) {
            if (is_covered[i]) continue;
            if (outside[i] == 0) {
                cover(i);
            } else {  // a word for the trainer to count
                words.symbols.insert(words.symbols.end(), {best_[i].left, best_[i].right});
                words.end(outside[i]);
            }
        }
        criterion_.end_noting(covered);
        // The trainer counts the symbols of the words itself.
        for_each_symbol(words, [](std::uint64_t& sum, std::uint64_t count) { sum -= count; });
        MergeTrainer trainer(words.counted(), alphabet_ + result.merges.size(), min_frequency_,
                             criterion_, sharing_);
        trainer.add_outside(total_ - trainer.total());
        words = {};
        bool stopped = false;
        const auto tell = [&](const Training& so_far) {
            stopped = watch && !watch(so_far);
            return !stopped;
        };
        trainer.run(tokens, tell, result);
        total_ = trainer.total();
        return !stopped;
    }

    // Chooses the pairs to cover, whose words fit into memory. Half of it is for the best ones. As
    // they are merged, their symbols become rarer, and other pairs of these symbols become
    // likelier: so the rest is for pairs that are the best in the end.
    std::vector<bool> choose() const {
        std::vector<std::uint32_t> order(best_.size());
        std::iota(order.begin(), order.end(), 0);
        std::vector<bool> chosen(best_.size());
        chosen[0] = true;
        std::uint64_t size = best_[0].size;
        const auto choose_up_to = [&](std::uint64_t room) {
            for (const std::uint32_t i : order) {
                if (chosen[i] || size + best_[i].size > room) continue;
                chosen[i] = true;
                size += best_[i].size;
            }
        };
        choose_up_to(room_ / 2);
        const std::vector<double> later = later_likelihoods(chosen);
        InterruptionPoints<4096> points;
        std::sort(order.begin(), order.end(), with_interruption(points, [&](auto a, auto b) {
                      return later[a] != later[b] ? later[a] > later[b] : a < b;
                  }));
        choose_up_to(room_);
        return chosen;
    }

    // The likelihoods of the best pairs when chosen ones are merged, roughly.
    std::vector<double> later_likelihoods(const std::vector<bool>& chosen) const {
        constexpr double kLeast = 1e-3;  // of a symbol is left
        std::vector<double> left(criterion_.symbol_counts.begin(), criterion_.symbol_counts.end());
        for (std::size_t i = 0; i < best_.size(); ++i) {
            if (!chosen[i]) continue;
            for (const Id id : {best_[i].left, best_[i].right}) {
                left[id] -= static_cast<double>(best_[i].count);
            }
        }
        for (std::size_t id = 0; id < left.size(); ++id) {
            const auto before = static_cast<double>(criterion_.symbol_counts[id]);
            left[id] = std::max(left[id], before * kLeast);
        }
        std::vector<double> result;
        for (const TextPair& pair : best_) {
            result.push_back(static_cast<double>(pair.count) /
                             (left[pair.left] * left[pair.right]));
        }
        return result;
    }

    // All words that hold one of the pairs.
    ChunkStore::Chunks words_with(const PairTable& pairs) {
        std::vector<ChunkStore::Chunks> found(threads_);
        std::atomic<std::size_t> next{0};
        run_on_threads(threads_, [&](std::size_t thread) {
            ChunkStore::Chunks chunks;
            for (std::size_t block = next++; block < store_.blocks(); block = next++) {
                store_.read(block, chunks);
                take(chunks, pairs, found[thread]);
                interruption_point();
            }
        });
        ChunkStore::Chunks& all = found[0];
        for (std::size_t thread = 1; thread < threads_; ++thread) {
            const ChunkStore::Chunks part = std::move(found[thread]);
            const std::size_t size = all.symbols.size();
            for (const std::uint64_t end : part.ends) all.ends.push_back(size + end);
            all.symbols.insert(all.symbols.end(), part.symbols.begin(), part.symbols.end());
            all.counts.insert(all.counts.end(), part.counts.begin(), part.counts.end());
        }
        return std::move(all);
    }
    static void take(const ChunkStore::Chunks& chunks, const PairTable& pairs,
                     ChunkStore::Chunks& found) {
        InterruptionPoints<1024> points;
        const Id* word = chunks.symbols.data();
        for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
            points.step();
            const Id *const end = chunks.symbols.data() + chunks.ends[chunk], *p = word;
            while (p + 1 < end && pairs.find(p[0], p[1]).rank == kNoRank) ++p;
            if (p + 1 < end) {
                found.symbols.insert(found.symbols.end(), word, end);
                found.end(chunks.counts[chunk]);
            }
            word = end;
        }
    }

    // The counts of the best pairs outside of some words.
    std::vector<std::uint64_t> counts_outside(const ChunkStore::Chunks& words) const {
        PairIndex index;
        std::vector<std::uint64_t> result;
        for (const TextPair& pair : best_) {
            index.find_or_add(pair.left, pair.right, static_cast<std::uint32_t>(result.size()));
            result.push_back(pair.count);
        }
        for_each_pair(words.counted(), 0, words.ends.size(),
                      [&](Id left, Id right, std::uint64_t count, std::size_t) {
                          const std::uint32_t number = index.find(left, right);
                          if (number != PairIndex::kNone) result[number] -= count;
                      });
        return result;
    }

    // Merges the best pair in all chunks: its words do not fit into memory, or an unknown pair is
    // perhaps as good.
    void merge_best(Training& result) {
        const TextPair& best = best_.front();
        const std::size_t before = result.merges.size();
        result.merges.push_back({best.left, best.right, static_cast<Id>(alphabet_ + before)});
        result.counts.push_back(best.count);
        const std::uint64_t joined = apply(before, result);
        total_ -= joined;
        criterion_.symbol_counts[best.left] -= joined;
        criterion_.symbol_counts[best.right] -= joined;
        criterion_.symbol_counts.push_back(joined);
        result.tokens.push_back(total_);
    }

    static constexpr std::size_t kMostParts = 1 << 12;
    static constexpr std::size_t kKnownBytes = 256;  // of training, for each of best_

    ChunkStore& store_;
    std::size_t alphabet_;
    std::uint64_t min_frequency_;
    Sharing sharing_;
    std::size_t threads_;
    std::size_t memory_;
    std::uint64_t room_;  // for words, in symbols
    std::size_t parts_;   // in which pairs are counted
    MostLikelyKnown criterion_;
    std::uint64_t total_ = 0;     // the number of tokens of the text
    std::mutex guard_;            // protects best_ and criterion_ while pairs are counted
    std::vector<TextPair> best_;  // the best pair first
};

}  // namespace

Training train_likelihood_in_phases(ChunkStore& store, std::size_t alphabet, std::size_t tokens,
                                    std::uint64_t min_frequency, const Sharing& sharing,
                                    std::size_t memory, const Watch& watch) {
    return LikelyPhaseTrainer(store, alphabet, min_frequency, sharing, memory).run(tokens, watch);
}

}  // namespace toksmith::bpe

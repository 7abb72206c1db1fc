// Training by merging when the chunks do not fit into memory: in phases, of which each learns the
// merges down to some count.
//
// A phase reads all chunks twice. First it applies the merges of the phase before, and bounds the
// count of each pair. Then it cuts the chunks where no frequent pair can occur, and counts the
// equal segments, which are far fewer than the chunks. A MergeTrainer learns from them all merges
// of pairs that are frequent. It learns them exactly: all occurrences of a frequent pair are in the
// segments, in the same order. The next phase starts with a lower count.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <limits>
#include <utility>
#include <vector>

#include "base/pages.hpp"
#include "training/bpe/chunk_store.hpp"
#include "training/bpe/frequent_segments.hpp"
#include "training/bpe/merge_blocks.hpp"
#include "training/bpe/merge_trainer.hpp"
#include "training/bpe/pair_bounds.hpp"

namespace toksmith::bpe {

template <typename MergeCriterion>
class PhaseTrainer {
 public:
    // `memory`: of a phase, in bytes, besides the memory of `store`. Replaces the chunks of `store`
    // by merged ones.
    PhaseTrainer(ChunkStore& store, std::size_t alphabet, std::uint64_t min_frequency,
                 MergeCriterion& criterion, const Sharing& sharing, std::size_t memory)
        : store_(store),
          alphabet_(alphabet),
          min_frequency_(std::max<std::uint64_t>(1, min_frequency)),
          criterion_(criterion),
          sharing_(sharing),
          threads_(std::clamp<std::size_t>(sharing.threads, 1,
                                           std::max<std::size_t>(1, store.blocks()))),
          memory_(std::min(memory, kEnough)) {}

    Training run(std::size_t tokens, const Watch& watch) {
        Training result;
        keep_at_stop(watch, result, [&] { run(tokens, watch, result); });
        return result;
    }

 private:
    static constexpr std::size_t kEnough = std::size_t{1} << 30;  // in bytes; more saves no phase
    static constexpr std::size_t kAhead = 16;                     // prefetch distance, in pairs
    static constexpr std::uint64_t kFall = 8;  // from phase to phase, frequent falls to this part

    void run(std::size_t tokens, const Watch& watch, Training& result) {
        std::uint64_t total = store_.tokens();
        std::uint64_t most = std::numeric_limits<std::uint64_t>::max();  // of all pairs' counts
        for (std::size_t applied = 0; result.merges.size() < tokens;) {
            pages::return_freed();
            FrequentSegments segments;
            {
                PairBounds bounds(bits(), threads_);
                const std::uint64_t highest =
                    apply(std::exchange(applied, result.merges.size()), result, bounds);
                most = std::min(most - 1, highest);
                if (most < min_frequency_) return;
                const std::uint64_t least = std::max(min_frequency_, most / kFall);
                segments = frequent_segments(
                    store_, bounds, apart_of(),
                    {.memory = memory_ / 8 * 6, .least = least, .most = most, .threads = threads_});
            }
            MergeTrainer trainer(segments.counted(), alphabet_ + result.merges.size(),
                                 segments.least, criterion_, sharing_);
            trainer.add_outside(total - trainer.total());
            most = segments.least;
            segments = {};
            bool stopped = false;
            const auto tell = [&](const Training& so_far) {
                stopped = watch && !watch(so_far);
                return !stopped;
            };
            trainer.run(tokens - result.merges.size(), tell, result);
            if (stopped) return;
            if (!result.tokens.empty()) total = result.tokens.back();
        }
    }

    // Slots of the bounds: an eighth of the memory for each thread.
    unsigned bits() const {
        const std::size_t slots = memory_ / 8 / threads_ / sizeof(std::uint64_t);
        return std::clamp<unsigned>(static_cast<unsigned>(std::bit_width(slots | 1)) - 1, 12, 22);
    }

    std::function<bool(Id, Id)> apart_of() const {
        if constexpr (requires(Id id) { criterion_.apart(id, id); }) {
            return [&](Id left, Id right) { return criterion_.apart(left, right); };
        } else {
            return {};
        }
    }

    // Applies the merges from `first` on to all chunks, and bounds the counts of their pairs.
    // Returns the highest bound.
    std::uint64_t apply(std::size_t first, const Training& learned, PairBounds& bounds) {
        merge_blocks(store_, learned, first, threads_,
                     [&](std::size_t thread, const ChunkStore::Chunks& chunks) {
                         bound(chunks, thread, bounds);
                     });
        return bounds.finish();
    }

    static void bound(const ChunkStore::Chunks& chunks, std::size_t thread, PairBounds& bounds) {
        const std::vector<Id>& symbols = chunks.symbols;
        InterruptionPoints<1024> points;
        std::size_t i = 0;
        for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
            const std::size_t end = chunks.ends[chunk];
            points.in_parts(end - i, [&](std::size_t, std::size_t) {});
            for (; i + 1 < end; ++i) {
                if (i + kAhead + 1 < symbols.size()) {
                    bounds.prefetch(thread, symbols[i + kAhead], symbols[i + kAhead + 1]);
                }
                bounds.add(thread, symbols[i], symbols[i + 1], chunks.counts[chunk]);
            }
            i = end;
        }
    }

    ChunkStore& store_;
    std::size_t alphabet_;
    std::uint64_t min_frequency_;
    MergeCriterion& criterion_;
    Sharing sharing_;
    std::size_t threads_;
    std::size_t memory_;
};

}  // namespace toksmith::bpe

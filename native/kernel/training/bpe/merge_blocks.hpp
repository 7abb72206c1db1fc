// Applies learned merges to stored chunks, block by block.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "training/bpe/chunk_store.hpp"
#include "training/bpe/merge_chunk.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

// Returns the number of tokens of the text that are joined.
inline std::uint64_t merge_chunks(const ChunkStore::Chunks& chunks, ChunkMerger& merger,
                                  ChunkStore::Chunks& merged) {
    merged.clear();
    std::uint64_t joined = 0;
    InterruptionPoints<1024> points;
    std::size_t start = 0;
    for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
        points.step();
        const std::size_t end = chunks.ends[chunk], size = merged.symbols.size();
        merger.merge(chunks.symbols.data() + start, chunks.symbols.data() + end, merged.symbols);
        merged.end(chunks.counts[chunk]);
        joined += chunks.counts[chunk] * (end - start - (merged.symbols.size() - size));
        start = end;
    }
    return joined;
}

// Applies the merges of `learned` from `first` on to all chunks. Calls visit(thread, chunks) for
// the chunks of each block afterwards. Returns the number of tokens of the text that are joined.
template <typename Visit>
std::uint64_t merge_blocks(ChunkStore& store, const Training& learned, std::size_t first,
                           std::size_t threads, Visit visit) {
    const std::size_t size = learned.merges.size() - first;
    PairTable merges(size);
    for (std::size_t i = 0; i < size; ++i) {
        const MergeRule& rule = learned.merges[first + i];
        merges.insert(rule.left, rule.right, {static_cast<std::uint32_t>(i), rule.id});
    }
    std::atomic<std::size_t> next{0};
    std::atomic<std::uint64_t> joined{0};
    run_on_threads(threads, [&](std::size_t thread) {
        ChunkMerger merger(merges);
        ChunkStore::Chunks chunks, merged;
        for (std::size_t block = next++; block < store.blocks(); block = next++) {
            store.read(block, chunks);
            if (size > 0) {
                joined += merge_chunks(chunks, merger, merged);
                store.replace(block, merged);
                std::swap(chunks, merged);
            }
            visit(thread, chunks);
            interruption_point();
        }
    });
    return joined;
}

}  // namespace toksmith::bpe

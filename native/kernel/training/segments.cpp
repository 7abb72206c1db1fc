#include "training/segments.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "counting/chunk_table.hpp"
#include "counting/distinct_chunks.hpp"
#include "training/symbol_bytes.hpp"

namespace toksmith::bpe {
namespace {

template <typename Points>
void read(const DistinctChunks::Entry& entry, std::vector<Id>& out, Points& points) {
    for (const std::uint8_t *p = entry.bytes(), *end = p + entry.size(); p < end;) {
        points.step();
        out.push_back(read_symbol(p));
    }
}

}  // namespace

Segments count_segments(const CountedSymbols& words, std::size_t cut,
                        const std::vector<PieceTraits>& alphabet, const PieceRules& rules,
                        std::size_t threads) {
    constexpr std::size_t kBatch = 64, kJob = kBatch << 8;  // in words
    const std::size_t size = words.ends.size(), jobs = (size - cut + kJob - 1) / kJob;
    threads = std::max<std::size_t>(1, std::min(threads, jobs));
    std::vector<ChunkTable> tables(threads);
    std::atomic<std::size_t> next{0};
    run_on_threads(threads, [&](std::size_t thread) {
        CountingBatch batch;
        InterruptionPoints<(1 << 16)> points;
        for (std::size_t job = next++; job < jobs; job = next++) {
            const std::size_t last = std::min(size, cut + (job + 1) * kJob);
            for (std::size_t word = cut + job * kJob; word < last;) {
                std::uint64_t i = word > 0 ? words.ends[word - 1] : 0;
                const std::uint64_t first = i * kMostSymbolBytes;
                for (const std::size_t stop = std::min(last, word + kBatch); word < stop; ++word) {
                    const std::uint64_t start = i, end = words.ends[word];
                    for (; i < end; ++i) {
                        points.step();
                        const Id symbol = words.symbols[i];
                        if (i > start &&
                            rules.apart(alphabet[words.symbols[i - 1]], alphabet[symbol])) {
                            batch.ends.push_back(batch.text.size());
                        }
                        write_symbol(symbol, batch.text);
                    }
                    if (end > start) batch.ends.push_back(batch.text.size());
                    batch.counts.resize(batch.ends.size(), words.counts[word]);
                }
                batch.count(tables[thread], first);
            }
            interruption_point();
        }
    });
    const DistinctChunks found(std::move(tables), threads);
    const auto is_cut = static_cast<std::ptrdiff_t>(cut);
    Segments result{
        .symbols = {words.symbols, words.symbols + (cut > 0 ? words.ends[cut - 1] : 0)},
        .ends = {words.ends.begin(), words.ends.begin() + is_cut},
        .counts = {words.counts.begin(), words.counts.begin() + is_cut},
    };
    InterruptionPoints<(1 << 16)> points;
    for (const DistinctChunks::Entry& entry : found.entries()) {
        read(entry, result.symbols, points);
        result.ends.push_back(result.symbols.size());
        result.counts.push_back(entry.count);
    }
    return result;
}

}  // namespace toksmith::bpe

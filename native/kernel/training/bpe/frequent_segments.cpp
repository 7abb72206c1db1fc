#include "training/bpe/frequent_segments.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "counting/chunk_table.hpp"
#include "counting/distinct_chunks.hpp"

namespace toksmith::bpe {
namespace {

constexpr std::size_t kBatch = std::size_t{1} << 12;  // segments

class SegmentCounter {
 public:
    SegmentCounter(const ChunkStore& store, const PairBounds& bounds,
                   const std::function<bool(Id, Id)>& apart, const SegmentLimits& limits)
        : store_(store),
          bounds_(bounds),
          apart_(apart),
          limits_(limits),
          least_(limits.least),
          frequent_(bounds.at_least(least_)),
          tables_(limits.threads) {}

    FrequentSegments count() {
        std::atomic<std::size_t> next{0};
        while (next < store_.blocks()) {
            std::atomic<bool> full{false};
            run_on_threads(tables_.size(), [&](std::size_t thread) {
                ChunkStore::Chunks chunks;
                while (!full) {
                    const std::size_t block = next++;
                    if (block >= store_.blocks()) return;
                    store_.read(block, chunks);
                    count(chunks, store_.first(block) * kMostSymbolBytes, tables_[thread]);
                    if (tables_[thread].memory_when_grown() > room()) full = true;
                    interruption_point();
                }
            });
            while (raise(largest_table() * tables_.size())) {
                recut(DistinctChunks(std::exchange(tables_, {}), limits_.threads));
            }
        }
        while (true) {
            DistinctChunks found(std::exchange(tables_, {}), limits_.threads);
            if (raise(training_bytes(found))) {
                recut(found);
            } else {
                return decoded(found);
            }
        }
    }

 private:
    // Of each table, in bytes. Training takes the memory after the tables are freed.
    std::size_t room() const { return limits_.memory / tables_.size(); }
    std::size_t largest_table() const {
        std::size_t largest = 0;
        for (const ChunkTable& table : tables_) {
            largest = std::max(largest, table.memory_when_grown());
        }
        return largest;
    }
    // Training takes memory for symbols, of which each takes at least a byte.
    static std::size_t training_bytes(const DistinctChunks& found) {
        return found.total_bytes() * kTrainingBytes;
    }

    // Raises the count of a frequent pair if the segments take more memory than they should, and
    // returns true. If few counts are left for this phase, the next one will have nearly as much to
    // do: then they may take somewhat more.
    bool raise(std::size_t memory) {
        constexpr std::size_t kMore = std::size_t{1} << 26;  // in bytes
        if (memory <= limits_.memory) return false;
        const std::uint64_t highest = limits_.most - limits_.most / 8;
        if (least_ < highest) {
            least_ = std::min(2 * least_, highest);
        } else if (memory > limits_.memory + kMore && least_ < limits_.most) {
            least_ += (limits_.most - least_ + 1) / 2;
        } else {
            return false;
        }
        frequent_ = bounds_.at_least(least_);
        return true;
    }

    bool is_cut(Id left, Id right) const {
        return !frequent_.has(left, right) || (apart_ && apart_(left, right));
    }

    // Cuts one stretch of symbols into segments.
    void cut(const Id* symbols, std::size_t size, std::uint64_t count, CountingBatch& batch) const {
        std::size_t start = 0;
        for (std::size_t i = 1; i <= size; ++i) {
            if (i < size && !is_cut(symbols[i - 1], symbols[i])) continue;
            if (i - start > 1) {
                for (; start < i; ++start) write_symbol(symbols[start], batch.text);
                batch.ends.push_back(batch.text.size());
                batch.counts.push_back(count);
            }
            start = i;
        }
    }

    // `first`: a position that no chunk before these has reached.
    void count(const ChunkStore::Chunks& chunks, std::uint64_t first, ChunkTable& table) const {
        CountingBatch batch;
        InterruptionPoints<(1 << 14)> points;
        std::size_t start = 0;
        for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
            points.in_parts(chunks.ends[chunk] - start, [](std::size_t, std::size_t) {});
            cut(chunks.symbols.data() + start, chunks.ends[chunk] - start, chunks.counts[chunk],
                batch);
            start = chunks.ends[chunk];
            if (batch.ends.size() < kBatch) continue;
            const std::size_t written = batch.text.size();
            batch.count(table, first);
            first += written;
        }
        batch.count(table, first);
    }

    // Cuts segments again, after raise().
    void recut(const DistinctChunks& found) {
        tables_.clear();
        tables_.resize(limits_.threads);
        ChunkStore::Chunks chunks;
        InterruptionPoints<1024> points;
        CountingBatch batch;
        for (const DistinctChunks::Entry& entry : found.entries()) {
            points.step();
            chunks.clear();
            for (const std::uint8_t *p = entry.bytes(), *end = p + entry.size(); p < end;) {
                chunks.symbols.push_back(read_symbol(p));
            }
            cut(chunks.symbols.data(), chunks.symbols.size(), entry.count, batch);
            if (!batch.ends.empty()) batch.count(tables_[0], entry.first);
        }
    }

    FrequentSegments decoded(const DistinctChunks& found) const {
        FrequentSegments result;
        result.least = least_;
        result.symbols.reserve(found.total_bytes());
        result.ends.reserve(found.entries().size());
        result.counts.reserve(found.entries().size());
        InterruptionPoints<1024> points;
        for (const DistinctChunks::Entry& entry : found.entries()) {
            points.step();
            for (const std::uint8_t *p = entry.bytes(), *end = p + entry.size(); p < end;) {
                result.symbols.push_back(read_symbol(p));
            }
            result.ends.push_back(result.symbols.size());
            result.counts.push_back(entry.count);
        }
        return result;
    }

    const ChunkStore& store_;
    const PairBounds& bounds_;
    const std::function<bool(Id, Id)>& apart_;
    SegmentLimits limits_;
    std::uint64_t least_;
    PairBounds::Filter frequent_;
    std::vector<ChunkTable> tables_;  // one for each thread
};

}  // namespace

FrequentSegments frequent_segments(const ChunkStore& store, const PairBounds& bounds,
                                   const std::function<bool(Id, Id)>& apart,
                                   const SegmentLimits& limits) {
    return SegmentCounter(store, bounds, apart, limits).count();
}

}  // namespace toksmith::bpe

#include "counting/spilled_counts.hpp"

#include <algorithm>
#include <cstring>
#include <queue>
#include <stdexcept>
#include <utility>

#include "base/parallel.hpp"
#include "base/stop.hpp"

namespace toksmith {
namespace {

constexpr std::size_t kLeastBuffer = std::size_t{1} << 12, kMostBuffer = std::size_t{1} << 20;
using Points = InterruptionPoints<1024>;

}  // namespace

void SpilledCounts::spill(std::vector<std::vector<Record>> tables, std::size_t threads) {
    for_each_on_threads(threads, tables.size(), [&](std::size_t i) {
        Points points;
        std::sort(tables[i].begin(), tables[i].end(), with_interruption(points, bytes_before));
    });
    // The new runs are added all at once: if writing fails, the object is unchanged.
    std::vector<SortedRun> written;
    for (std::vector<Record>& table : tables) {
        if (table.empty()) continue;
        written.push_back(write(table));
        table = {};
    }
    runs_.insert(runs_.end(), written.begin(), written.end());
}

SortedRun SpilledCounts::write(const std::vector<Record>& records) {
    RunWriter writer(file_);
    Points points;
    for (const Record& record : records) {
        writer.add(record);
        points.step();
    }
    return writer.finish();
}

SpilledCounts::Tallies SpilledCounts::merge(std::uint64_t min_count, std::uint64_t unit,
                                            std::size_t memory) {
    memory_ = memory;
    // Discards the runs of an interrupted merge.
    by_first_.clear();
    chunks_ = chunk_bytes_ = 0;
    Tallies tallies{};
    std::vector<std::uint8_t> bytes, chunk;
    std::vector<Record> block;  // their bytes are in `bytes`, in the same order
    Record current{};
    const auto take = [&] {
        if (current.size == 0) return;
        current.count = (current.count + unit / 2) / unit;
        Tally& tally = tallies[std::min<std::uint64_t>(current.count, kTallies - 1)];
        ++tally.chunks;
        tally.bytes += current.size;
        if (current.count < min_count) return;
        ++chunks_;
        chunk_bytes_ += current.size;
        bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        block.push_back(current);
        // Twice the size, since a growing vector moves to a larger array.
        if (2 * (bytes.size() + block.size() * sizeof(Record)) > memory / 2) flush(block, bytes);
    };
    const auto add = [&](const Record& record) {
        if (record.size == current.size && !chunk.empty() &&
            std::memcmp(record.bytes, chunk.data(), record.size) == 0) {
            current.count += record.count;
            current.first = std::min(current.first, record.first);
            return;
        }
        take();
        chunk.assign(record.bytes, record.bytes + record.size);
        current = record;
    };
    visit_runs(runs_, bytes_before, add);
    take();
    flush(block, bytes);
    runs_.clear();
    return tallies;
}

void SpilledCounts::flush(std::vector<Record>& block, std::vector<std::uint8_t>& bytes) {
    const std::uint8_t* place = bytes.data();
    for (Record& record : block) {
        record.bytes = place;
        place += record.size;
    }
    Points points;
    std::sort(block.begin(), block.end(), with_interruption(points, first_before));
    by_first_.push_back(write(block));
    block.clear();
    bytes.clear();
}

void SpilledCounts::visit(const std::function<void(const Record&)>& visit) {
    if (!runs_.empty()) throw std::logic_error("visit() needs merge() first");
    visit_runs(by_first_, first_before, visit);
}

void SpilledCounts::visit_runs(const std::vector<SortedRun>& runs,
                               bool (*before)(const Record&, const Record&),
                               const std::function<void(const Record&)>& visit) {
    const std::size_t buffer =
        std::clamp(memory_ / 4 / std::max<std::size_t>(1, runs.size()), kLeastBuffer, kMostBuffer);
    std::vector<RunReader> readers;
    readers.reserve(runs.size());
    const auto later = [&](std::size_t a, std::size_t b) {
        return before(readers[b].record(), readers[a].record());
    };
    std::priority_queue<std::size_t, std::vector<std::size_t>, decltype(later)> queue(later);
    for (const SortedRun& run : runs) {
        readers.emplace_back(file_, run, buffer);
        if (readers.back().next()) queue.push(readers.size() - 1);
    }
    for (Points points; !queue.empty(); points.step()) {
        const std::size_t reader = queue.top();
        queue.pop();
        visit(readers[reader].record());
        if (readers[reader].next()) queue.push(reader);
    }
}

}  // namespace toksmith

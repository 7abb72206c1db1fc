#include "counting/spilled_counts.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>
#include <utility>

#include "base/parallel.hpp"
#include "base/stop.hpp"

namespace toksmith {
namespace {

// The number of runs of a level that are merged to one of the next level.
constexpr std::size_t kFanIn = 32;

using Points = InterruptionPoints<1024>;

std::uint64_t blocks_of(std::uint64_t size) {
    return (size + BlockFile::kBlock - 1) / BlockFile::kBlock;
}

}  // namespace

void SpilledCounts::spill(std::vector<std::vector<Record>> tables, std::size_t threads,
                          std::size_t memory) {
    for_each_on_threads(threads, tables.size(), [&](std::size_t i) {
        Points points;
        std::sort(tables[i].begin(), tables[i].end(), with_interruption(points, bytes_before));
    });
    std::uint64_t needed = 0;
    for (const std::vector<Record>& table : tables) needed += blocks_of(encoded_size(table));
    // A merge needs a block for each run, and one to write to, before it frees the first one.
    const std::size_t spare = runs_.size() + tables.size() + 1;
    if (file_.room() < needed + spare && runs_.size() > 1) merge_from(0, memory);
    if (file_.room() < needed + tables.size() + 2) throw SpillFull();
    // If writing fails, the runs that were written are removed: the object is unchanged.
    const std::size_t before = runs_.size();
    runs_.reserve(before + tables.size());
    try {
        for (std::vector<Record>& table : tables) {
            if (table.empty()) continue;
            runs_.push_back({write(table), 0});
            table = {};
        }
    } catch (...) {
        for (std::size_t i = before; i < runs_.size(); ++i) {
            for (const std::uint32_t block : runs_[i].run.blocks) file_.free(block);
        }
        runs_.resize(before);
        throw;
    }
}

void SpilledCounts::compact(std::size_t memory) {
    for (;;) {
        if (runs_.size() < kFanIn) return;
        const std::size_t first = runs_.size() - kFanIn;
        if (runs_[first].level != runs_.back().level) return;
        merge_from(first, memory);
    }
}

void SpilledCounts::merge_from(std::size_t first, std::size_t memory) {
    unsigned level = 0;
    for (std::size_t i = first; i < runs_.size(); ++i) level = std::max(level, runs_[i].level);
    RunWriter writer(file_);
    consume(first, memory, [&](const Record& record) { writer.add(record); });
    runs_.push_back({writer.finish(), level + 1});
    broken_ = false;
}

void SpilledCounts::consume(std::size_t first, std::size_t memory,
                            const std::function<void(const Record&)>& visit) {
    if (std::exchange(broken_, true)) {
        throw std::logic_error("spilled counts cannot be used after an interruption");
    }
    std::vector<SortedRun> runs;
    for (std::size_t i = first; i < runs_.size(); ++i) runs.push_back(std::move(runs_[i].run));
    runs_.resize(first);
    SummedRuns records(file_, std::move(runs), memory, true);
    while (const Record* record = records.next()) visit(*record);
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
    Tallies tallies{};
    std::vector<std::uint8_t> bytes;
    std::vector<Record> block;  // their bytes are in `bytes`, in the same order
    consume(0, memory / 4, [&](Record record) {
        record.count = (record.count + unit / 2) / unit;
        Tally& tally = tallies[std::min<std::uint64_t>(record.count, kTallies - 1)];
        ++tally.chunks;
        tally.bytes += record.size;
        if (record.count < min_count) return;
        ++chunks_;
        chunk_bytes_ += record.size;
        occurrences_ += record.count;
        text_bytes_ += record.count * record.size;
        bytes.insert(bytes.end(), record.bytes, record.bytes + record.size);
        block.push_back(record);
        // Twice the size, since a growing vector moves to a larger array.
        if (2 * (bytes.size() + block.size() * sizeof(Record)) > memory / 2) flush(block, bytes);
    });
    flush(block, bytes);
    broken_ = false;
    merged_ = true;
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
    const std::unique_ptr<MergedRuns> records = in_order();
    while (const Record* record = records->next()) visit(*record);
}

std::unique_ptr<MergedRuns> SpilledCounts::in_order() {
    if (!merged_) throw std::logic_error("the spilled counts are not merged: call merge() first");
    return std::make_unique<MergedRuns>(file_, by_first_, first_before, memory_ / 4);
}

}  // namespace toksmith

#include "counting/chunk_counter.hpp"

#include <algorithm>
#include <utility>

#include "base/stop.hpp"
#include "counting/count_on_threads.hpp"
#include "split/splitter.hpp"

namespace toksmith {

ChunkCounter::ChunkCounter(Splitter splitter, isa::Level level) : splitter_(std::move(splitter)) {
    if (splitter_.tables) {
        find_by_tables_ = find_by_tables_of(level);
    } else {
        find_chunks_ = find_chunks_of(splitter_.family, level);
    }
}

void ChunkCounter::add(const std::vector<Text>& documents, std::size_t threads) {
    Intact::Change change(intact_);
    change.keep_usable();
    struct Block {
        Text text;
        std::uint64_t first;
    };
    std::vector<Block> blocks;
    for (Text rest : documents) {
        while (rest.size() > kBlockBytes + kBlockBytes / 2) {
            const std::uint8_t* cut = safe_cut(splitter_, rest.begin + kBlockBytes, rest.end);
            blocks.push_back({{rest.begin, cut}, position_});
            position_ += static_cast<std::uint64_t>(cut - rest.begin);
            rest.begin = cut;
        }
        blocks.push_back({rest, position_});
        position_ += rest.size();
    }
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, blocks.size()));
    if (tables_.size() < used) tables_.resize(used);
    const auto count_block = [&](std::size_t thread, std::size_t i) {
        count_chunks(blocks[i].text, tables_[thread], blocks[i].first);
        return is_full(tables_[thread], used);
    };
    count_on_threads(blocks.size(), used, count_block, [&] {
        spill();
        tables_.resize(used);
    });
}

template <typename Add>
void ChunkCounter::find_chunks(Text text, const Add& add) const {
    if (splitter_.tables) {
        find_by_tables_(*splitter_.tables, text, add);
        return;
    }
    const std::uint8_t* ends[kMostEnds];
    for (const std::uint8_t* p = text.begin; p < text.end;) {
        const std::size_t chunks = find_chunks_(p, text.end, ends).count;
        p = ends[chunks - 1];
        add(ends, chunks);
    }
}

void ChunkCounter::count_chunks(Text text, ChunkTable& table, std::uint64_t first) const {
    const std::uint8_t* p = text.begin;
    const auto add = [&](const std::uint8_t* const* ends, std::size_t chunks) {
        table.add_all(p, ends, chunks, first + static_cast<std::uint64_t>(p - text.begin),
                      text.end);
        p = ends[chunks - 1];
    };
    find_chunks(text, add);
}

std::vector<std::uint64_t> ChunkCounter::chunks_of(const std::vector<Text>& documents) const {
    std::vector<std::uint64_t> found;
    found.reserve(documents.size());
    for (const Text& document : documents) {
        std::uint64_t chunks = 0;
        find_chunks(document, [&](const std::uint8_t* const*, std::size_t more) {
            chunks += more;
            interruption_point();
        });
        found.push_back(chunks);
    }
    return found;
}

void ChunkCounter::add_chunks(const std::vector<Text>& chunks,
                              const std::vector<std::uint64_t>& counts) {
    Intact::Change change(intact_);
    change.keep_usable();
    if (tables_.empty()) tables_.resize(1);
    InterruptionPoints<4096> points;
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        points.step();
        if (chunks[i].size() == 0) continue;
        tables_[0].add(chunks[i].begin, chunks[i].size(), counts[i], position_);
        position_ += chunks[i].size();
        if (!is_full(tables_[0], 1)) continue;
        spill();
        tables_.resize(1);
    }
}

DistinctChunks ChunkCounter::finish() {
    Intact::Change change(intact_);
    const std::size_t threads = tables_.size();
    DistinctChunks chunks(std::exchange(tables_, {}), threads);
    change.keep_usable();
    return chunks;
}

void ChunkCounter::limit(std::size_t memory, int descriptor, std::uint64_t space) {
    memory_ = memory;
    spilled_ = std::make_unique<SpilledCounts>(descriptor, space);
}

void ChunkCounter::weigh(std::uint64_t weight) {
    if (!spilled_) throw std::logic_error("weigh() needs limit() first");
    if (weight != weight_) spill();
    weight_ = weight;
}

void ChunkCounter::spill() {
    ChunkSample sample = sample_;
    std::vector<std::vector<Record>> records(tables_.size());
    for (std::size_t i = 0; i < tables_.size(); ++i) {
        sample.add(tables_[i], weight_);
        records[i] = tables_[i].records();
        for (Record& record : records[i]) record.count *= weight_;
    }
    spilled_->spill(std::move(records), tables_.size(), memory_ / 8);
    // Nothing may fail before the tables are cleared, or their chunks would be counted twice.
    tables_.clear();
    sample_ = std::move(sample);
    spilled_->compact(memory_ / 2);
}

SpilledCounts::Tallies ChunkCounter::estimate(std::uint64_t unit) const {
    ChunkSample sample = sample_;
    for (const ChunkTable& table : tables_) sample.add(table, weight_);
    SpilledCounts::Tallies tallies{};
    sample.add_to(tallies, unit);
    return tallies;
}

SpilledCounts* ChunkCounter::spilled() {
    if (!spilled_ || (spilled_->empty() && weight_ == 1)) return nullptr;
    Intact::Change change(intact_);
    change.keep_usable();
    spill();
    tables_.clear();
    return spilled_.get();
}

}  // namespace toksmith

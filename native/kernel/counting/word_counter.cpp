#include "counting/word_counter.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "counting/count_on_threads.hpp"

namespace toksmith {

WordCounter::WordCounter(const Options& options) : options_(options) {
    if (options.plain) plain_.emplace(*options.plain);
}

void WordCounter::add(const std::vector<Text>& documents, std::size_t threads) {
    Intact::Change change(intact_);
    change.keep_usable();
    std::vector<Block> blocks;
    for (Text rest : documents) {
        bool starts_document = true;
        while (rest.size() > kBlockBytes + kBlockBytes / 2) {
            const std::uint8_t* cut = find_break(rest.begin + kBlockBytes, rest.end);
            if (cut == rest.end) break;
            blocks.push_back({{rest.begin, ++cut}, position_, starts_document});
            position_ += static_cast<std::uint64_t>(cut - rest.begin);
            rest.begin = cut;
            starts_document = false;
        }
        blocks.push_back({rest, position_, starts_document});
        position_ += rest.size() + 1;
    }
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, blocks.size()));
    if (parts_.size() < used) parts_.resize(used);
    const auto count_block = [&](std::size_t thread, std::size_t i) {
        count(blocks[i], parts_[thread]);
        return is_full(parts_[thread], used);
    };
    count_on_threads(blocks.size(), used, count_block, [this] { spill(); });
    for (Part& part : parts_) {
        const Lines some = std::exchange(part.lines, {});
        lines_.counted += some.counted;
        lines_.too_long += some.too_long;
        lines_.reserved += some.reserved;
    }
}

void WordCounter::limit(std::size_t memory, int chunks, int plain, std::uint64_t space) {
    memory_ = memory;
    spilled_ = std::make_unique<Spilled>(
        Spilled{SpilledCounts(chunks, space / 2), SpilledCounts(plain, space / 2)});
}

void WordCounter::weigh(std::uint64_t weight) {
    if (!spilled_) throw std::logic_error("weigh() needs limit() first");
    if (weight != weight_) spill();
    weight_ = weight;
}

bool WordCounter::is_full(const Part& part, std::size_t threads) const {
    return spilled_ &&
           part.chunks.memory_when_grown() + part.plain.memory_when_grown() > memory_ / threads;
}

void WordCounter::spill() {
    const auto records_of = [&](ChunkTable Part::* table, bool drops) {
        std::vector<std::vector<Record>> records(parts_.size());
        for (std::size_t i = 0; i < parts_.size(); ++i) {
            records[i] = (parts_[i].*table).records();
            for (Record& record : records[i]) record.count *= weight_;
            if (drops) {
                std::erase_if(records[i], [](const Record& record) {
                    return record.size == 1 && *record.bytes == ' ';
                });
            }
        }
        return records;
    };
    const auto spill_all = [&](ChunkTable Part::* table, bool drops, SpilledCounts& spilled,
                               ChunkSample& sample) {
        ChunkSample larger = sample;
        for (const Part& part : parts_) larger.add(part.*table, weight_);
        std::vector<ChunkTable> empty(parts_.size());
        spilled.spill(records_of(table, drops), parts_.size(), memory_ / 8);
        // Nothing may fail from here on, or the chunks would be counted twice.
        for (std::size_t i = 0; i < parts_.size(); ++i) std::swap(parts_[i].*table, empty[i]);
        sample = std::move(larger);
    };
    // One after the other, because the records take memory.
    spill_all(&Part::chunks, false, spilled_->chunks, chunk_sample_);
    const bool drops_spaces = plain_ && plain_->drops_spaces();
    spill_all(&Part::plain, drops_spaces, spilled_->plain, plain_sample_);
}

SpilledCounts::Tallies WordCounter::estimate(std::uint64_t unit) const {
    ChunkSample chunks = chunk_sample_, plain = plain_sample_;
    for (const Part& part : parts_) {
        chunks.add(part.chunks, weight_);
        plain.add(part.plain, weight_);
    }
    SpilledCounts::Tallies tallies{};
    chunks.add_to(tallies, unit);
    plain.add_to(tallies, unit);
    return tallies;
}

WordCounter::Spilled* WordCounter::spilled() {
    if (!spilled_) return nullptr;
    if (spilled_->chunks.empty() && spilled_->plain.empty() && weight_ == 1) return nullptr;
    Intact::Change change(intact_);
    change.keep_usable();
    spill();
    parts_.clear();
    return spilled_.get();
}

WordCounter::Found WordCounter::finish() {
    Intact::Change change(intact_);
    const std::size_t threads = parts_.size();
    std::vector<ChunkTable> chunks, plain;
    for (Part& part : std::exchange(parts_, {})) {
        chunks.push_back(std::move(part.chunks));
        plain.push_back(std::move(part.plain));
    }
    Found found{{std::move(chunks), threads}, {std::move(plain), threads}};
    if (plain_ && plain_->drops_spaces()) found.plain.drop(" ");
    change.keep_usable();
    return found;
}

}  // namespace toksmith

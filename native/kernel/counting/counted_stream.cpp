#include "counting/counted_stream.hpp"

#include <utility>

namespace toksmith {

CountedStream::CountedStream(DistinctChunks chunks, std::uint64_t min_count)
    : chunks_(std::move(chunks)), min_count_(min_count) {
    for (const DistinctChunks::Entry& entry : chunks_.entries()) {
        if (entry.count < min_count) continue;
        ++totals_.chunks;
        totals_.occurrences += entry.count;
        totals_.bytes += entry.count * entry.size();
    }
}

CountedStream::CountedStream(SpilledCounts& spilled)
    : runs_(spilled.in_order()),
      totals_{spilled.chunks(), spilled.occurrences(), spilled.text_bytes()} {}

CountedStream::Batch CountedStream::next(std::size_t chunks, std::size_t bytes) {
    Intact::Change change(intact_);
    Batch batch;
    while (batch.ends.size() < chunks) {
        const Record* record = peek();
        if (!record) break;
        if (!batch.ends.empty() && batch.bytes.size() + record->size > bytes) break;
        batch.bytes.insert(batch.bytes.end(), record->bytes, record->bytes + record->size);
        batch.ends.push_back(batch.bytes.size());
        batch.counts.push_back(record->count);
        waiting_ = nullptr;
    }
    change.keep_usable();
    return batch;
}

const Record* CountedStream::peek() {
    if (waiting_) return waiting_;
    if (runs_) return waiting_ = runs_->next();
    const std::vector<DistinctChunks::Entry>& entries = chunks_.entries();
    while (place_ < entries.size() && entries[place_].count < min_count_) ++place_;
    if (place_ == entries.size()) return nullptr;
    const DistinctChunks::Entry& entry = entries[place_++];
    record_ = {entry.bytes(), entry.size(), entry.count, entry.first};
    return waiting_ = &record_;
}

}  // namespace toksmith

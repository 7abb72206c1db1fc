#include "counting/distinct_chunks.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/parallel.hpp"

namespace toksmith {
namespace {

using Entry = ChunkTable::Entry;
using Entries = std::vector<Entry>;

constexpr unsigned kPartBits = 6;
constexpr std::size_t kParts = std::size_t{1} << kPartBits;

// The chunks of all tables whose hashes have a common prefix, with equal chunks merged.
class Part {
 public:
    Part(const std::vector<ChunkTable>& tables, std::uint64_t start) {
        std::size_t most = 0;
        for (const ChunkTable& table : tables) most += table.size();
        entries.reserve(most / kParts + most / kParts / 8 + 8);
        if (tables.size() > 1) slots_.resize(std::bit_ceil(2 * (most / kParts) + 16));
        for (std::size_t i = 0; i < tables.size(); ++i) {
            tables[i].for_each(start, kPartBits, [&](std::uint64_t hash, const Entry& entry) {
                if (tables.size() == 1) {
                    entries.push_back(entry);
                } else {
                    add(hash, entry);
                }
            });
        }
        slots_ = {};
    }

    Entries entries;

 private:
    void add(std::uint64_t hash, const Entry& entry) {
        if (entries.size() * 2 >= slots_.size()) grow();
        const std::size_t mask = slots_.size() - 1;
        for (std::size_t i = hash & mask;; i = (i + 1) & mask) {
            Slot& slot = slots_[i];
            if (slot.number == 0) {
                entries.push_back(entry);
                slot = {hash, entries.size()};
                return;
            }
            Entry& known = entries[slot.number - 1];
            if (slot.hash != hash || !known.is_same_chunk(entry)) continue;
            known.count += entry.count;
            known.first = std::min(known.first, entry.first);
            return;
        }
    }
    void grow() {
        const std::vector<Slot> old = std::exchange(slots_, std::vector<Slot>(2 * slots_.size()));
        const std::size_t mask = slots_.size() - 1;
        for (const Slot& slot : old) {
            if (slot.number == 0) continue;
            std::size_t i = slot.hash & mask;
            while (slots_[i].number != 0) i = (i + 1) & mask;
            slots_[i] = slot;
        }
    }

    struct Slot {
        std::uint64_t hash;
        std::size_t number;  // the index of the entry, starting at 1; 0: an empty slot
    };
    std::vector<Slot> slots_;
};

// All entries, ordered by first position: distributed to ranges of positions, then sorted.
Entries in_order(const std::vector<Entries>& parts, std::size_t threads) {
    std::uint64_t last = 0;
    std::size_t size = 0;
    for (const Entries& part : parts) {
        size += part.size();
        for (const Entry& entry : part) last = std::max(last, entry.first);
    }
    // Few entries have few ranges, since each range has a counter for each part.
    const unsigned range_bits = std::min(10u, static_cast<unsigned>(std::bit_width(size / 16)));
    unsigned shift = 0;
    while (last >> shift >> range_bits) ++shift;
    const std::size_t ranges = std::size_t{1} << range_bits;
    std::vector<std::vector<std::size_t>> places(parts.size(), std::vector<std::size_t>(ranges));
    for_each_on_threads(threads, parts.size(), [&](std::size_t i) {
        for (const Entry& entry : parts[i]) ++places[i][entry.first >> shift];
    });
    std::vector<std::size_t> starts;
    std::size_t next = 0;
    for (std::size_t range = 0; range < ranges; ++range) {
        starts.push_back(next);
        for (std::vector<std::size_t>& part : places) {
            next += std::exchange(part[range], next);
        }
    }
    starts.push_back(next);
    Entries result(size);
    for_each_on_threads(threads, parts.size(), [&](std::size_t i) {
        for (const Entry& entry : parts[i]) result[places[i][entry.first >> shift]++] = entry;
    });
    for_each_on_threads(threads, ranges, [&](std::size_t range) {
        const auto at = [&](std::size_t i) {
            return result.begin() + static_cast<std::ptrdiff_t>(starts[i]);
        };
        std::sort(at(range), at(range + 1),
                  [](const Entry& a, const Entry& b) { return a.first < b.first; });
    });
    return result;
}

}  // namespace

DistinctChunks::DistinctChunks(std::vector<ChunkTable> tables, std::size_t threads)
    : tables_(std::move(tables)) {
    std::vector<Entries> parts(kParts);
    for_each_on_threads(threads, kParts,
                        [&](std::size_t i) { parts[i] = Part(tables_, i).entries; });
    entries_ = in_order(parts, threads);
    if (entries_.size() >= 0xFFFFFFFFu) {
        throw std::length_error(
            "the text has more than 2^32 distinct chunks: use a split pattern, or less text");
    }
    for (const Entry& entry : entries_) total_bytes_ += entry.size();
}

void DistinctChunks::drop(std::string_view chunk) {
    const auto dropped = std::erase_if(entries_, [&](const Entry& entry) {
        return entry.size() == chunk.size() &&
               std::memcmp(entry.bytes(), chunk.data(), chunk.size()) == 0;
    });
    total_bytes_ -= dropped * chunk.size();
}

}  // namespace toksmith

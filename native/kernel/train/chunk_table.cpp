#include "train/chunk_table.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "hash.hpp"

namespace toksmith {

ChunkTable::ChunkTable() : slots_(1024, Slot{0, 0}) {}

void ChunkTable::add(const std::uint8_t* chunk, std::size_t size, std::uint64_t count,
                     std::uint64_t first) {
    const std::uint64_t hash = hash_bytes(chunk, size);
    const auto upper = static_cast<std::uint32_t>(hash >> 32);
    const std::size_t mask = slots_.size() - 1;
    std::size_t i = hash & mask;
    for (; slots_[i].entry != 0; i = (i + 1) & mask) {
        if (slots_[i].hash != upper) continue;
        Entry& entry = entries_[slots_[i].entry - 1];
        if (entry.size != size || std::memcmp(bytes(entry), chunk, size) != 0) continue;
        entry.count += count;
        entry.first = std::min(entry.first, first);
        return;
    }
    if (entries_.size() >= 0xFFFFFFFEu) {
        throw std::length_error("more than 2^32 distinct chunks: use a split pattern");
    }
    entries_.push_back({bytes_.size(), size, count, first});
    bytes_.insert(bytes_.end(), chunk, chunk + size);
    slots_[i] = {upper, static_cast<std::uint32_t>(entries_.size())};
    if (entries_.size() * 2 > slots_.size()) grow();
}

void ChunkTable::merge(const ChunkTable& other) {
    for (const Entry& entry : other.entries_) {
        add(other.bytes(entry), entry.size, entry.count, entry.first);
    }
}

void ChunkTable::sort_by_first() {
    slots_ = {};
    std::sort(entries_.begin(), entries_.end(),
              [](const Entry& a, const Entry& b) { return a.first < b.first; });
}

ChunkTable ChunkTable::merged(std::vector<ChunkTable> tables) {
    if (tables.empty()) return {};
    ChunkTable all = std::move(tables[0]);
    for (std::size_t i = 1; i < tables.size(); ++i) {
        all.merge(tables[i]);
        tables[i] = ChunkTable();
    }
    all.sort_by_first();
    return all;
}

void ChunkTable::grow() {
    std::vector<Slot> larger(slots_.size() * 2, Slot{0, 0});
    const std::size_t mask = larger.size() - 1;
    for (std::size_t index = 0; index < entries_.size(); ++index) {
        const std::uint64_t hash = hash_bytes(bytes(entries_[index]), entries_[index].size);
        std::size_t i = hash & mask;
        while (larger[i].entry != 0) i = (i + 1) & mask;
        larger[i] = {static_cast<std::uint32_t>(hash >> 32), static_cast<std::uint32_t>(index + 1)};
    }
    slots_.swap(larger);
}

}  // namespace toksmith

#include "counting/chunk_sample.hpp"

#include <algorithm>

namespace toksmith {

void ChunkSample::add(const ChunkTable& table, std::uint64_t weight) {
    while (table.size() >> bits_ > kMost) ++bits_;  // so that few chunks are added in vain
    table.for_each(0, bits_, [&](std::uint64_t hash, const ChunkTable::Entry& entry) {
        Counted& counted = chunks_[hash];
        counted.count += entry.count * weight;
        counted.size = entry.size();
    });
    const auto is_outside = [&](const auto& chunk) {
        return bits_ > 0 && chunk.first >> (64 - bits_) != 0;
    };
    std::erase_if(chunks_, is_outside);
    while (chunks_.size() > kMost) {
        ++bits_;
        std::erase_if(chunks_, is_outside);
    }
}

void ChunkSample::add_to(SpilledCounts::Tallies& tallies, std::uint64_t unit) const {
    for (const auto& [hash, chunk] : chunks_) {
        const std::uint64_t count = (chunk.count + unit / 2) / unit;
        auto& tally = tallies[std::min<std::uint64_t>(count, SpilledCounts::kTallies - 1)];
        tally.chunks += std::uint64_t{1} << bits_;
        tally.bytes += chunk.size << bits_;
    }
}

}  // namespace toksmith

// The symbols of all chunks, with their neighbours and counts. Merging two symbols makes one longer
// symbol.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <vector>

#include "base/huge_page_array.hpp"
#include "base/team.hpp"
#include "training/bpe/position_arena.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

// All chunks, concatenated in the order of their first occurrences, with one cell for each initial
// symbol. So the smallest position of a pair is its first occurrence in the text. The first cell of
// a symbol stores its id, and its last cell the id with a mark.
class Cells {
 public:
    static constexpr std::uint64_t kMost = std::uint64_t{1} << 31;

    // The threads of `team` write the cells, in `shares` parts. Throws std::length_error for kMost
    // or more symbols.
    template <typename Symbol>
    Cells(const Counted<Symbol>& chunks, Team& team, std::size_t shares)
        : size_(checked_size(chunks.size())), cells_(size_ + 1) {
        for (const std::uint64_t count : chunks.counts) {
            if (count >= kLarge) large_.push_back(count);
        }
        std::sort(large_.begin(), large_.end());
        team.run(shares, [&](std::size_t share) {
            const std::size_t first = chunks.cut(share, shares);
            InterruptionPoints<1024> points;
            std::uint64_t i = first > 0 ? chunks.ends[first - 1] : 0;
            for (std::size_t chunk = first; chunk < chunks.cut(share + 1, shares); ++chunk) {
                const std::uint32_t count = stored(chunks.counts[chunk]);
                Id mark = kFirst;
                for (const std::uint64_t end = chunks.ends[chunk]; i < end;) {
                    // Symbols of a long chunk between interruption points.
                    constexpr std::uint64_t kAtOnce = std::uint64_t{1} << 16;
                    for (const std::uint64_t stop = std::min(end, i + kAtOnce); i < stop; ++i) {
                        cells_.data()[i] = {mark | chunks.symbols[i], count};
                        mark = 0;
                    }
                    if (i < end) interruption_point();
                }
                points.step();
            }
        });
        cells_.data()[size_] = {kFirst, 0};
    }

    std::size_t size() const { return size_; }
    void prefetch(std::size_t place) const { __builtin_prefetch(cells_.data() + place, 1); }

    // Whether symbol `id` starts here.
    bool starts(std::size_t place, Id id) const { return (at(place) & ~kFirst) == id; }
    // Whether symbol `id` starts here, and is not the first one of its chunk.
    bool goes_on(std::size_t place, Id id) const { return at(place) == id; }
    // Whether a chunk starts here, or all chunks end here.
    bool is_first(std::size_t place) const { return (at(place) & kFirst) != 0; }
    // The start of the chunk that contains this position; 0 if it is more than kMostSteps cells
    // back.
    Position chunk_start(Position place) const {
        constexpr Position kMostSteps = 1000;
        const Position least = place - std::min(place, kMostSteps);
        while (place > least && !is_first(place)) --place;
        return is_first(place) ? place : 0;
    }
    // The symbol that starts here and is not the first of its chunk; and the symbol that ends
    // before this cell.
    Id id_at(std::size_t place) const { return at(place); }
    Id id_before(std::size_t place) const { return at(place - 1) & ~(kFirst | kLast); }
    // The count of the chunk that contains this cell.
    std::uint64_t count(std::size_t place) const {
        const std::uint32_t count = cells_.data()[place].count;
        return count & kLarge ? large_[count ^ kLarge] : count;
    }

    // Merges two symbols. `left`: the length of the left one, and `whole`: of both, in cells.
    void join(std::size_t place, std::size_t left, std::size_t whole, Id id) {
        Cell* const cells = cells_.data() + place;
        const Id mark = cells->id & kFirst;
        cells[left - 1].id = cells[left].id = kLast;
        cells[whole - 1].id = id | kLast;
        cells->id = id | mark;
    }

 private:
    static constexpr Id kLast = 0x80000000u, kFirst = 0x40000000u;
    static constexpr std::uint32_t kLarge = 0x80000000u;

    struct Cell {
        Id id;
        std::uint32_t count;  // the count of its chunk, or, with the mark, its index in large_
    };

    static std::size_t checked_size(std::uint64_t size) {
        if (size >= kMost) {
            throw std::length_error(
                "the distinct chunks come to 2^31 symbols or more, which training cannot hold: use "
                "a split pattern, or drop the rare chunks");
        }
        return size;
    }
    std::uint32_t stored(std::uint64_t count) const {
        if (count < kLarge) return static_cast<std::uint32_t>(count);
        const auto found = std::lower_bound(large_.begin(), large_.end(), count);
        return kLarge | static_cast<std::uint32_t>(found - large_.begin());
    }
    Id at(std::size_t place) const { return cells_.data()[place].id; }

    std::size_t size_;
    HugePageArray<Cell> cells_;
    std::vector<std::uint64_t> large_;  // sorted
};

}  // namespace toksmith::bpe

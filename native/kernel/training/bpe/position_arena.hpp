// Memory for lists of positions of fixed size. Lists are stored in the order in which they are
// allocated.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "base/huge_page_array.hpp"

namespace toksmith::bpe {

using Position = std::uint32_t;

class PositionArena {
 public:
    // Allocates a list of `places` positions.
    Position* take(std::size_t places) {
        if (places > free_) {
            // The block size doubles from block to block, up to 16 MiB.
            const std::size_t usual = std::size_t{1}
                                      << std::min<std::size_t>(15 + blocks_.size(), 22);
            const std::size_t size = std::max(places, usual);
            blocks_.push_back({HugePageArray<Position>(size), size});
            next_ = blocks_.back().places.data();
            free_ = size;
        }
        Position* const result = next_;
        next_ += places;
        free_ -= places;
        taken_ += places;
        return result;
    }

    // Frees the blocks before the one that contains this list.
    void drop_before(const Position* list) {
        while (!blocks_.front().holds(list)) blocks_.pop_front();
    }

    // The number of positions in all lists.
    std::size_t taken() const { return taken_; }

 private:
    struct Block {
        HugePageArray<Position> places;
        std::size_t size;
        bool holds(const Position* list) const {
            return list >= places.data() && list < places.data() + size;
        }
    };

    std::deque<Block> blocks_;
    Position* next_ = nullptr;
    std::size_t free_ = 0;
    std::size_t taken_ = 0;
};

}  // namespace toksmith::bpe

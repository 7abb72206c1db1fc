// A hash table from a pair of ids to the number of the pair.
#pragma once

#include <cstdint>
#include <utility>

#include "base/huge_page_array.hpp"
#include "base/stop.hpp"
#include "models/bpe/pair_table.hpp"

namespace toksmith::bpe {

class PairIndex {
 public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    // Prefetches the slot that find() and find_or_add() read.
    void prefetch(Id left, Id right) const {
        __builtin_prefetch(slots_.data() + place_of(pair_key(left, right)));
    }

    std::uint32_t find(Id left, Id right) const {
        const Slot& slot = slots_.data()[slot_of(pair_key(left, right))];
        return slot.mark == 0 ? kNone : slot.number;
    }

    // The number of a pair. A new pair gets `number`.
    std::uint32_t find_or_add(Id left, Id right, std::uint32_t number) {
        const std::uint64_t key = pair_key(left, right);
        Slot& slot = slots_.data()[slot_of(key)];
        if (slot.mark != 0) return slot.number;
        slot = {key, number, 1};
        if (++size_ * 2 > mask_ + 1) grow();
        return number;
    }

 private:
    struct Slot {
        std::uint64_t key;
        std::uint32_t number;
        std::uint32_t mark;  // 0: an empty slot
    };

    std::size_t place_of(std::uint64_t key) const { return (hash_word(key) >> 7) & mask_; }
    std::size_t slot_of(std::uint64_t key) const {
        std::size_t i = place_of(key);
        while (slots_.data()[i].mark != 0 && slots_.data()[i].key != key) i = (i + 1) & mask_;
        return i;
    }

    void grow() {
        const HugePageArray<Slot> old = std::exchange(slots_, HugePageArray<Slot>(2 * (mask_ + 1)));
        const std::size_t old_mask = std::exchange(mask_, 2 * mask_ + 1);
        InterruptionPoints<(1 << 16)> points;
        for (std::size_t i = 0; i <= old_mask; ++i) {
            points.step();
            const Slot& slot = old.data()[i];
            if (slot.mark != 0) slots_.data()[slot_of(slot.key)] = slot;
        }
    }

    std::size_t mask_ = (1 << 12) - 1;
    HugePageArray<Slot> slots_{mask_ + 1};
    std::size_t size_ = 0;
};

}  // namespace toksmith::bpe

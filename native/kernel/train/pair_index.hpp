// From a pair of ids to its number, numbers given in the order of first mention.
#pragma once

#include <cstdint>
#include <vector>

#include "bpe/pair_table.hpp"

namespace toksmith::bpe {

class PairIndex {
 public:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    PairIndex() : slots_(1 << 12, Slot{kEmpty, 0}) {}

    std::uint32_t find(Id left, Id right) const {
        const Slot& slot = slots_[place(pair_key(left, right))];
        return slot.key == kEmpty ? kNone : slot.number;
    }

    std::uint32_t find_or_add(Id left, Id right) {
        const std::uint64_t key = pair_key(left, right);
        Slot& slot = slots_[place(key)];
        if (slot.key == key) return slot.number;
        const std::uint32_t number = size_++;
        slot = {key, number};
        if (size_ * std::size_t{2} > slots_.size()) grow();
        return number;
    }

    std::uint32_t size() const { return size_; }

 private:
    static constexpr std::uint64_t kEmpty = ~std::uint64_t{0};
    struct Slot {
        std::uint64_t key;
        std::uint32_t number;
    };

    std::size_t place(std::uint64_t key) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = (mix(key, 0x9E3779B97F4A7C15ULL) >> 7) & mask;
        while (slots_[i].key != key && slots_[i].key != kEmpty) i = (i + 1) & mask;
        return i;
    }

    void grow() {
        std::vector<Slot> old(slots_.size() * 2, Slot{kEmpty, 0});
        old.swap(slots_);
        for (const Slot& slot : old) {
            if (slot.key != kEmpty) slots_[place(slot.key)] = slot;
        }
    }

    std::vector<Slot> slots_;
    std::uint32_t size_ = 0;
};

}  // namespace toksmith::bpe

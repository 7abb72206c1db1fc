// Maps a code point to an id in two steps. All empty blocks of code points share one block.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "base/id_array.hpp"

namespace toksmith {

class CodePointTable {
 public:
    static constexpr Id kNone = 0xFFFFFFFFu;

    CodePointTable() { add_block(); }

    void set(std::uint32_t code, Id id) {
        std::uint32_t& block = blocks_[code >> 8];
        if (block == 0) block = add_block();
        ids_[block + (code & 0xFF)] = id;
    }

    Id operator[](std::uint32_t code) const {
        return code < kCodes ? ids_[blocks_[code >> 8] + (code & 0xFF)] : kNone;
    }

 private:
    static constexpr std::uint32_t kCodes = 0x110000;

    std::uint32_t add_block() {
        const auto start = static_cast<std::uint32_t>(ids_.size());
        ids_.resize(ids_.size() + 256, kNone);
        return start;
    }

    // The index in ids_ where each block starts; 0: the empty block.
    std::array<std::uint32_t, kCodes / 256> blocks_{};
    std::vector<Id> ids_;
};

}  // namespace toksmith

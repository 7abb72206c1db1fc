// Maps byte offsets of a text to characters. Each byte of invalid UTF-8 is a character.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "text/text.hpp"
#include "utf8/decode.hpp"

namespace toksmith::utf8 {

class CharacterPlaces {
 public:
    // Replaces the text. Keeps the memory of the one before.
    void read(Text text, isa::Level level) {
        const std::size_t size = text.size();
        size_ = size;
        blocks_.resize(size / kBlock + 1);
        if (first_invalid(text.begin, text.end, level) == text.end) {
            mark_leads(text);
        } else {
            mark_characters(text);
        }
        std::int64_t before = 0;
        for (Block& block : blocks_) {
            block.before = before;
            before += std::popcount(block.starts);
        }
        count_ = before;
    }
    std::int64_t count() const { return count_; }

    // The characters that bytes [start, end) touch. Empty if the bytes are.
    std::pair<std::int64_t, std::int64_t> touched(std::int64_t start, std::int64_t end) const {
        const auto first = static_cast<std::size_t>(start), last = static_cast<std::size_t>(end);
        const std::int64_t from = first < size_ ? up_to(first) - 1 : count_;
        return {from, first == last ? from : up_to(last - 1)};
    }

 private:
    static constexpr std::size_t kBlock = 64;
    struct Block {
        std::uint64_t starts = 0;  // one bit for each byte that starts a character
        std::int64_t before = 0;   // characters that start before the block
    };

    // The number of characters that start at or before a byte.
    std::int64_t up_to(std::size_t byte) const {
        const Block& block = blocks_[byte / kBlock];
        return block.before + std::popcount(block.starts << (kBlock - 1 - byte % kBlock));
    }
    // In valid UTF-8, all bytes but continuation bytes start a character.
    void mark_leads(Text text) {
        std::size_t left = text.size();
        for (Block& block : blocks_) {
            std::uint64_t starts = 0;
            Byte bytes[kBlock];
            const Byte* const p = text.end - left;
            if (left >= kBlock) {
                std::memcpy(bytes, p, kBlock);
            } else {
                std::memset(bytes, 0x80, sizeof bytes);
                if (left != 0) std::memcpy(bytes, p, left);  // an empty text may be null
            }
            for (std::size_t i = 0; i < kBlock; i += 8) {
                std::uint64_t eight;
                std::memcpy(&eight, bytes + i, 8);
                const std::uint64_t leads = (~eight | eight << 1) & 0x8080808080808080;
                starts |= ((leads >> 7) * 0x0102040810204080 >> 56) << i;
            }
            block.starts = starts;
            left -= std::min(left, kBlock);
        }
    }
    void mark_characters(Text text) {
        for (Block& block : blocks_) block.starts = 0;
        for (const Byte* p = text.begin; p < text.end; p += decode(p, text.end).size) {
            const auto place = static_cast<std::size_t>(p - text.begin);
            blocks_[place / kBlock].starts |= std::uint64_t{1} << place % kBlock;
        }
    }

    std::size_t size_ = 0;
    std::int64_t count_ = 0;
    std::vector<Block> blocks_;
};

}  // namespace toksmith::utf8

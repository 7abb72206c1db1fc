// The normalized form of every character, computed in blocks of 64 when a text first contains a
// character of the block.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "utf8/decode.hpp"
#include "utf8/encode.hpp"

namespace toksmith {

class CharacterTable {
 public:
    static constexpr std::uint32_t kBlock = 64;  // characters
    static constexpr std::uint32_t kBlocks = 0x110000 / kBlock;
    // `tokenizers` replaces grapheme clusters as a whole if they have fewer bytes.
    static constexpr std::uint32_t kShortCluster = 6;

    // One character.
    struct Row {
        std::uint16_t left;         // the cut class of its last normalized character
        std::uint16_t right;        // the cut class of its first normalized character
        std::uint16_t size;         // the size of its units, in bytes
        bool is_context_sensitive;  // its normalized form depends on its neighbours
        // Characters that join are normalized together with the one before them if that one takes
        // them, and if both are short: see kShortCluster.
        bool joins : 1, takes : 1;
        std::uint32_t begin;  // the offset of its units in the block
    };

    // `units`: the normalized characters, each as its Unit and its size (a byte each), and its
    // UTF-8.
    struct Block {
        std::array<Row, kBlock> rows;
        std::vector<std::uint8_t> units;
    };

    // Returns the block of a number; null for a plain one: its characters have cut class 0, and are
    // single units of kind kPlainUnit that neither change nor depend on their neighbours.
    using DescribeBlock = std::function<std::unique_ptr<const Block>(std::uint32_t)>;
    static constexpr std::uint8_t kPlainUnit = 4;

    explicit CharacterTable(DescribeBlock describe_block)
        : describe_block_(std::move(describe_block)) {
        plain_.rows.fill({0, 0, sizeof(OwnUnit), false, false, false, 0});
    }
    CharacterTable(const CharacterTable&) = delete;
    CharacterTable& operator=(const CharacterTable&) = delete;
    ~CharacterTable() {
        for (const auto& block : blocks_) {
            if (block.load() != &plain_) delete block.load();
        }
    }

    const Block& block_of(std::uint32_t code) const {
        const std::uint32_t number = code / kBlock;
        const Block* block = blocks_[number].load(std::memory_order_acquire);
        return block ? *block : fill(number);
    }

    const Row& row(std::uint32_t code) const { return block_of(code).rows[code % kBlock]; }

    // The units of a character. `own`: memory for the unit of a character of a plain block.
    using OwnUnit = std::array<std::uint8_t, 2 + utf8::kMostBytes>;
    std::span<const std::uint8_t> units(std::uint32_t code, OwnUnit& own) const {
        const Block& block = block_of(code);
        if (&block == &plain_) {
            own[0] = kPlainUnit;
            own[1] = static_cast<std::uint8_t>(utf8::encode(code, own.data() + 2));
            return std::span(own).first(2u + own[1]);
        }
        const Row& row = block.rows[code % kBlock];
        return std::span(block.units).subspan(row.begin, row.size);
    }

    // The code point of a character. An invalid byte is treated as a surrogate, which valid text
    // cannot contain.
    static std::uint32_t code_of(utf8::Char c) {
        return c.code == utf8::kInvalid ? 0xDFFFu : c.code;
    }

 private:
    // Calls describe_block_() without a lock: a thread that holds Python's GIL could wait for the
    // lock while its owner waits for the GIL. If several threads fill the same block, the first
    // result is kept.
    const Block& fill(std::uint32_t number) const {
        std::unique_ptr<const Block> made = describe_block_(number);
        const Block* const found = made ? made.get() : &plain_;
        const Block* expected = nullptr;
        if (!blocks_[number].compare_exchange_strong(expected, found)) return *expected;
        made.release();
        return *found;
    }

    DescribeBlock describe_block_;
    Block plain_;  // shared, so that random text needs little memory and time
    mutable std::array<std::atomic<const Block*>, kBlocks> blocks_{};
};

}  // namespace toksmith

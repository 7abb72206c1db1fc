// The transducer of split patterns, as tables: see splitters/compiler/transducer.py. It reads each
// character once, and says at each which chunk ends have become certain.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include "utf8/decode.hpp"

namespace toksmith {

class SplitTable {
 public:
    // What reading a character does, besides leading to the next state.
    using Action = std::uint16_t;
    // An end this many characters back lies in the register, a nearer one in the action.
    static constexpr unsigned kMostBack = 8;
    // Bit 7 - k of the lowest eight: a chunk ends k characters before this one.
    static constexpr Action kEnds = 0xFF;
    // A chunk ends at the place in the register; before those of kEnds.
    static constexpr Action kEndAtRegister = 1 << 8;
    // The register becomes the place kMostBack characters back, after this character is read.
    static constexpr Action kMark = 1 << 9;
    // A chunk may also be cut before this character: all other ends stay.
    static constexpr Action kFree = 1 << 10;

    using State = std::uint16_t;

    // Classes of code points: run i has class classes[i] and begins at starts[i], ascending from 0.
    // `next` and `actions` have a row for each state; the last column of `actions` is for the end
    // of the text. `sure_cuts`: for each class, the mask of the classes before which a text can be
    // cut without reading it from its start.
    // Throws std::invalid_argument if the tables do not fit together.
    SplitTable(std::span<const std::uint32_t> starts, std::span<const std::uint8_t> classes,
               std::span<const std::uint16_t> next, std::span<const Action> actions,
               std::vector<std::uint64_t> sure_cuts);

    // States are offsets into the tables. The first one is 0. The address of a cell is computed so
    // that only one addition waits for the state.
    State next(State state, std::uint8_t kind) const { return (next_.data() + kind)[state]; }
    Action action(State state, std::uint8_t kind) const { return (actions_.data() + kind)[state]; }
    Action action_at_end(State state) const { return actions_[state + sure_cuts_.size()]; }

    // The same for two characters at once: a step takes as long, since each waits for the state
    // that the one before it leads to. An ASCII character is read as its byte, and any other as
    // kBeyond plus its class.
    struct Pairs {
        using State = std::uint16_t;
        // Bits 0 to 8: as kEnds, of both characters. Two bits from kFreeBit on: as kFree, of each.
        // Then whether one of them has another action as well. From kStateBit on: the number of
        // the state after them.
        using Action = std::uint32_t;
        static constexpr Action kEnds = 0x1FF, kRare = 1 << 11;
        static constexpr unsigned kFreeBit = 9, kStateBit = 12;
        static constexpr utf8::Byte kBeyond = 0x80;

        std::array<std::uint16_t, kBeyond + 64> first;
        std::array<std::uint16_t, kBeyond + 64> second;
        std::vector<State> next;  // empty: the tables would be too large
        std::vector<Action> actions;
        std::size_t row;     // cells
        bool has_all_kinds;  // else only those of ASCII characters

        std::size_t cell(utf8::Byte one, utf8::Byte two) const {
            return std::size_t{first[one]} + second[two];
        }
    };
    const Pairs& pairs() const { return pairs_; }
    std::size_t state_number(State state) const { return state >> row_bits_; }
    State state_of_number(std::size_t number) const {
        return static_cast<State>(number << row_bits_);
    }

    std::uint8_t ascii_class(utf8::Byte byte) const { return ascii_[byte]; }
    // `code`: may be utf8::kInvalid.
    std::uint8_t class_of(std::uint32_t code) const {
        return code > 0x10FFFF ? invalid_ : class_of_valid(code);
    }
    std::uint8_t class_of_valid(std::uint32_t code) const {
        return class_of_[block_of_[code / kBlock] * kBlock + code % kBlock];
    }
    // Whether no further end will be found, since more was open than a state and the register can
    // hold. There is at most one such state.
    bool is_lost(State state) const { return lost_ != 0 && state == lost_; }
    bool may_get_lost() const { return lost_ != 0; }
    bool is_sure_cut(std::uint8_t before, std::uint8_t after) const {
        return sure_cuts_[before] >> after & 1;
    }
    // The first sure cut after the character at `from`, or `end`.
    const utf8::Byte* next_sure_cut(const utf8::Byte* from, const utf8::Byte* end) const;
    // The last sure cut between two ASCII characters up to `from`, or `begin`.
    const utf8::Byte* last_sure_cut(const utf8::Byte* begin, const utf8::Byte* from,
                                    const utf8::Byte* end) const;

 private:
    Pairs make_pairs() const;

    static constexpr std::size_t kBlock = 128;  // code points

    std::array<std::uint8_t, 128> ascii_;
    std::uint8_t invalid_;
    std::array<std::uint16_t, 0x110000 / kBlock> block_of_;
    std::vector<std::uint8_t> class_of_;
    unsigned row_bits_;
    std::vector<State> next_;
    std::vector<Action> actions_;
    State lost_ = 0;
    Pairs pairs_;
    std::vector<std::uint64_t> sure_cuts_;  // one for each class
};

}  // namespace toksmith

// A set of pairs of adjacent ASCII bytes, looked up for 64 bytes at once.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <vector>

namespace toksmith {

class BytePairs {
 public:
    static constexpr std::size_t kAscii = 0x80;

    // For each first byte, the set of second bytes. Many first bytes have the same set. A table
    // holds eight sets, one bit each.
    struct alignas(64) Table {
        std::uint8_t of[kAscii]{};
    };
    struct Sets {
        Table number;  // by first byte: the index of the table that holds its set
        Table bit;     // by first byte: the bit of its set in that table; 0: the set is empty
        std::vector<Table> tables;  // each by second byte
    };

    BytePairs() = default;  // the empty set
    // `has(first, second)`: whether a pair of ASCII bytes is in the set.
    template <typename Has>
    explicit BytePairs(Has has) : table_(0x10000) {
        std::map<Seconds, std::size_t> numbers;  // the number of each distinct set of second bytes
        for (unsigned first = 0; first < kAscii; ++first) {
            Seconds seconds{};
            for (unsigned second = 0; second < kAscii; ++second) {
                if (!has(first, second)) continue;
                table_[first | second << 8] = 1;
                seconds[second / 64] |= std::uint64_t{1} << second % 64;
            }
            if (seconds == Seconds{}) continue;
            const std::size_t set = numbers.try_emplace(seconds, numbers.size()).first->second;
            const auto bit = static_cast<std::uint8_t>(1 << set % 8);
            sets_.number.of[first] = static_cast<std::uint8_t>(set / 8);
            sets_.bit.of[first] = bit;
            sets_.tables.resize((numbers.size() + 7) / 8);
            for (unsigned second = 0; second < kAscii; ++second) {
                if (seconds[second / 64] >> second % 64 & 1)
                    sets_.tables[set / 8].of[second] |= bit;
            }
        }
    }

    // Whether the two bytes at p are in the set. Pairs with a byte beyond ASCII never are.
    bool has(const std::uint8_t* p) const { return flag(p) != 0; }

    // One bit for each of the 64 bytes at p: whether it and the byte before it are in the set.
    template <typename Isa>
    [[gnu::always_inline]] std::uint64_t seconds(const std::uint8_t* p) const {
        if constexpr (requires { Isa::pairs(p, sets_); }) {
            return Isa::pairs(p, sets_);
        } else {
            // Four independent chains of 16 bytes, for instruction-level parallelism.
            std::uint64_t marks[4] = {};
#pragma GCC unroll 16
            for (unsigned i = 0; i < 16; ++i) {
#pragma GCC unroll 4
                for (unsigned stretch = 0; stretch < 4; ++stretch) {
                    const unsigned second = 16 * stretch + 15 - i;
                    marks[stretch] = 2 * marks[stretch] + (second ? flag(p + second - 1) : 0);
                }
            }
            return marks[0] | marks[1] << 16 | marks[2] << 32 | marks[3] << 48;
        }
    }

 private:
    using Seconds = std::array<std::uint64_t, kAscii / 64>;

    std::uint8_t flag(const std::uint8_t* p) const {
        std::uint16_t both;
        static_assert(std::endian::native == std::endian::little);
        std::memcpy(&both, p, sizeof both);
        return table_[both];
    }

    std::vector<std::uint8_t> table_;  // 1 or 0, by the two bytes as a little-endian number
    Sets sets_;
};

}  // namespace toksmith

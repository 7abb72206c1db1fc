// Which bytes of ASCII belong together, of any two that stand side by side.
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

    // Sets of bytes that may come second: many first bytes have the same. Eight sets make a table,
    // a bit each.
    struct alignas(64) Table {
        std::uint8_t of[kAscii]{};
    };
    struct Sets {
        Table number;               // by first byte: of the table with its set
        Table bit;                  // and which that is there; 0: none may come second
        std::vector<Table> tables;  // by second byte
    };

    BytePairs() = default;  // of none
    // `has(first, second)` tells of two bytes of ASCII.
    template <typename Has>
    explicit BytePairs(Has has) : table_(0x10000) {
        std::map<Seconds, std::size_t> numbers;  // of sets
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

    // Whether the two bytes at p are one of the pairs. Bytes beyond ASCII are in none.
    bool has(const std::uint8_t* p) const { return flag(p) != 0; }

    // The second bytes of pairs among the 64 bytes at p, a bit a byte.
    template <typename Isa>
    [[gnu::always_inline]] std::uint64_t seconds(const std::uint8_t* p) const {
        if constexpr (requires { Isa::pairs(p, sets_); }) {
            return Isa::pairs(p, sets_);
        } else {
            // Four stretches at once: none waits for another.
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

    std::vector<std::uint8_t> table_;  // 1 or 0 by two bytes, as they are read at once
    Sets sets_;
};

}  // namespace toksmith

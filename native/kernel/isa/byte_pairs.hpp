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

    // Pairs as products: one of them belongs to the set where left[first] & right[second] is not 0
    // in one of the products. Each bit of a product stands for those that may come second behind
    // some.
    struct alignas(64) Product {
        std::array<std::uint8_t, kAscii> left{}, right{};
    };

    BytePairs() = default;  // of none
    // `has(first, second)` tells of two bytes of ASCII.
    template <typename Has>
    explicit BytePairs(Has has) : table_(0x10000) {
        std::map<Seconds, std::size_t> bits;  // by what may come second
        for (unsigned first = 0; first < kAscii; ++first) {
            Seconds seconds{};
            for (unsigned second = 0; second < kAscii; ++second) {
                if (!has(first, second)) continue;
                table_[first | second << 8] = 1;
                seconds[second / 64] |= std::uint64_t{1} << second % 64;
            }
            if (seconds == Seconds{}) continue;
            const std::size_t bit = bits.try_emplace(seconds, bits.size()).first->second;
            if (bit / 8 == products_.size()) products_.emplace_back();
            Product& product = products_[bit / 8];
            product.left[first] |= static_cast<std::uint8_t>(1 << bit % 8);
            for (unsigned second = 0; second < kAscii; ++second) {
                const bool may = (seconds[second / 64] >> second % 64 & 1) != 0;
                product.right[second] |= static_cast<std::uint8_t>(may << bit % 8);
            }
        }
    }

    bool empty() const { return products_.empty(); }

    // Whether the two bytes at p are one of the pairs. Bytes beyond ASCII are in none.
    bool has(const std::uint8_t* p) const {
        std::uint16_t both;
        static_assert(std::endian::native == std::endian::little);
        std::memcpy(&both, p, sizeof both);
        return table_[both] != 0;
    }

    // The second bytes of pairs among the 64 bytes at p, a bit a byte.
    template <typename Isa>
    [[gnu::always_inline]] std::uint64_t seconds(const std::uint8_t* p) const {
        if constexpr (requires { Isa::pairs(p, products_); }) {
            return Isa::pairs(p, products_);
        } else {
            alignas(64) std::uint8_t flags[64];
            flags[0] = 0;
#pragma GCC unroll 9
            for (unsigned i = 1; i < 64; ++i) flags[i] = has(p + i - 1);
            return Isa::template bit<0>(flags);
        }
    }

 private:
    using Seconds = std::array<std::uint64_t, kAscii / 64>;

    std::vector<std::uint8_t> table_;  // by two bytes, as they are read at once
    std::vector<Product> products_;
};

}  // namespace toksmith

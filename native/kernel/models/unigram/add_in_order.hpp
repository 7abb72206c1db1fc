// Adds numbers to a sum in their order, with all its roundings, but not one after the other: each
// addition would wait for the last.
//
// Between two powers of two, floats are evenly spaced steps, and their bits count them. While a sum
// stays there, by how many steps a number moves it depends on nothing but the number; or, where it
// lies half way between two steps, also on whether the sum is at an even one. So stretches of
// numbers are added at once: the first to the sum itself, the others to an even step and to an odd
// one, of which that counts which is like the sum that they come behind.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace toksmith::unigram {

// Of so many numbers each.
struct Stretches {
    static constexpr std::size_t kCount = 4, kLength = 16, kNumbers = kCount * kLength;

    std::array<float, kCount> even, odd;  // of the first, only `even` counts

    // Out of line, since gcc would keep them where their bits are looked at, and not where they are
    // added to.
    template <typename Number>
    [[gnu::noinline]] void add(std::size_t first, const Number& number) {
        auto e = even, o = odd;
        for (std::size_t i = first; i < first + kLength; ++i) {
            e[0] += number(i);
            for (std::size_t j = 1; j < kCount; ++j) {
                const float next = number(i + j * kLength);
                e[j] += next;
                o[j] += next;
            }
        }
        even = e;
        odd = o;
    }
};

// `number(i)`: the i-th. None is above 0, nor is the sum: so all sums stay between two powers of
// two if the last does, which is the furthest from 0.
template <typename Number>
float add_in_order(float sum, std::size_t count, const Number& number) {
    const auto bits_of = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    std::size_t i = 0;
    for (; count - i >= Stretches::kNumbers; i += Stretches::kNumbers) {
        constexpr int kFraction = 23;  // bits
        const std::uint32_t start = bits_of(sum), even = start & ~1u, odd = start | 1u;
        Stretches sums;
        sums.even.fill(std::bit_cast<float>(even));
        sums.odd.fill(std::bit_cast<float>(odd));
        sums.even[0] = sum;
        sums.add(i, number);
        std::uint32_t end = bits_of(sums.even[0]);
        for (std::size_t j = 1; j < Stretches::kCount; ++j) {
            end += (end & 1) ? bits_of(sums.odd[j]) - odd : bits_of(sums.even[j]) - even;
        }
        if (((end ^ start) >> kFraction) == 0) [[likely]] {
            sum = std::bit_cast<float>(end);
        } else {
            for (std::size_t j = i; j < i + Stretches::kNumbers; ++j) sum += number(j);
        }
    }
    for (; i < count; ++i) sum += number(i);
    return sum;
}

}  // namespace toksmith::unigram

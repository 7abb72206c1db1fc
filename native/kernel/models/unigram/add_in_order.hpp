// Sums floats strictly left to right with float32 rounding, but with instruction-level parallelism.
//
// As long as the running sum stays within one binade (between two powers of two), float addition is
// integer addition on the bit pattern, and the rounding of ties depends only on whether the
// mantissa is even. So later stretches are summed speculatively for an even and for an odd start,
// and the right sum is chosen once the sum of the previous stretch is known. If the sum leaves the
// binade, the block is summed again sequentially.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace toksmith::unigram {

// A block: kCount stretches of kLength numbers.
struct Stretches {
    static constexpr std::size_t kCount = 4, kLength = 16, kNumbers = kCount * kLength;

    std::array<float, kCount> even, odd;  // the sums; the first stretch uses `even` only

    // Not inlined: gcc would keep the sums in integer registers, where their bits are read, and
    // move them for each addition.
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

// `number(i)` returns the i-th number. No number may be above 0: then, from a sum that is not above
// 0 either, all partial sums lie in one binade if the first and the last do. A sum above 0 is rare
// (a reset leaves one if the path that was reset was not the best one), and is added to one by one.
template <typename Number>
float add_in_order(float sum, std::size_t count, const Number& number) {
    const auto bits_of = [](float x) { return std::bit_cast<std::uint32_t>(x); };
    std::size_t i = 0;
    for (; i < count && sum > 0; ++i) sum += number(i);
    for (; count - i >= Stretches::kNumbers; i += Stretches::kNumbers) {
        constexpr int kFraction = 23;  // bits of a float32
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

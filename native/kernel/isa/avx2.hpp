// The vocabulary of an instruction set on AVX2 and BMI2. Include inside its target region.
#pragma once

#include <immintrin.h>

#include "isa/byte_classes.hpp"
#include "isa/byte_masks.hpp"
#include "isa/isa.hpp"

namespace toksmith {

TOKSMITH_TARGET_BEGIN("avx2,bmi,bmi2,lzcnt,popcnt")

struct Avx2 {
    // What the 64 bytes at p are.
    static ByteMasks classify(const std::uint8_t* p) {
        const __m256i first = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
        const __m256i second = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + 32));
        const __m256i a = classes(first), b = classes(second);
        const std::uint64_t letter = bit<0>(a, b) | bit<1>(a, b);
        const std::uint64_t newline = bit<3>(a, b), blank = bit<5>(a, b);
        return {
            .letter = letter,
            .upper = letter & ~bit<5>(first, second),
            .digit = bit<2>(a, b),
            .space = newline | bit<4>(a, b) | blank,
            .blank = blank,
            .newline = newline,
            .quote = bit<6>(a, b),
            .slash = bit<7>(a, b),
            .high = bit<7>(first, second),
        };
    }

    // Which of the 64 bytes at p are the later ones of a character in UTF-8.
    static std::uint64_t continuations(const std::uint8_t* p) {
        const auto among = [p](int offset) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p + offset));
            const __m256i found = _mm256_cmpgt_epi8(_mm256_set1_epi8(-0x40), bytes);
            return static_cast<std::uint32_t>(_mm256_movemask_epi8(found));
        };
        return std::uint64_t{among(32)} << 32 | among(0);
    }

    // The bits of `from` at the places of `mask`, side by side; and back to those places.
    static std::uint64_t gather(std::uint64_t from, std::uint64_t mask) {
        return _pext_u64(from, mask);
    }
    static std::uint64_t scatter(std::uint64_t bits, std::uint64_t mask) {
        return _pdep_u64(bits, mask);
    }

 private:
    static __m256i load(const byte_classes::Halves& halves) {
        return _mm256_load_si256(reinterpret_cast<const __m256i*>(halves.data()));
    }
    static __m256i classes(__m256i bytes) {
        const __m256i low_halves = load(byte_classes::kLow);
        const __m256i high_halves = load(byte_classes::kHigh);
        const __m256i high = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), _mm256_set1_epi8(0x0F));
        return _mm256_and_si256(_mm256_shuffle_epi8(low_halves, bytes),
                                _mm256_shuffle_epi8(high_halves, high));
    }
    // Bit kBit of each byte.
    template <int kBit>
    static std::uint64_t bit(__m256i first, __m256i second) {
        const auto mask = [](__m256i bytes) {
            return static_cast<std::uint32_t>(
                _mm256_movemask_epi8(_mm256_slli_epi16(bytes, 7 - kBit)));
        };
        return std::uint64_t{mask(second)} << 32 | mask(first);
    }
};

TOKSMITH_TARGET_END

}  // namespace toksmith

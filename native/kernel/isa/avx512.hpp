// The vocabulary of an instruction set on AVX-512 (F, BW, VL) and BMI2.
#pragma once

#include <immintrin.h>

#include "isa/byte_classes.hpp"
#include "isa/byte_masks.hpp"
#include "isa/isa.hpp"

namespace toksmith {

TOKSMITH_TARGET_BEGIN("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")

struct Avx512 {
    // What the 64 bytes at p are.
    static ByteMasks classify(const std::uint8_t* p) {
        const __m512i bytes = _mm512_loadu_si512(p);
        const __m512i low_halves = _mm512_load_si512(byte_classes::kLow.data());
        const __m512i high_halves = _mm512_load_si512(byte_classes::kHigh.data());
        const __m512i high = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), all(0x0F));
        const __m512i classes = _mm512_and_si512(_mm512_shuffle_epi8(low_halves, bytes),
                                                 _mm512_shuffle_epi8(high_halves, high));
        const auto any = [classes](std::uint8_t bits) -> std::uint64_t {
            return _mm512_test_epi8_mask(classes, all(bits));
        };
        const std::uint64_t letter = any(byte_classes::kLetter);
        return {
            .letter = letter,
            .upper = letter & ~_mm512_test_epi8_mask(bytes, all(0x20)),
            .digit = any(byte_classes::kDigit),
            .space = any(byte_classes::kSpace),
            .blank = any(byte_classes::kBlank),
            .newline = any(byte_classes::kNewline),
            .quote = any(byte_classes::kQuote),
            .slash = any(byte_classes::kSlash),
            .high = _mm512_movepi8_mask(bytes),
        };
    }

    // Which of the 64 bytes at p are at least `byte`, equal to it, or have bit kBit set.
    static std::uint64_t at_least(const std::uint8_t* p, std::uint8_t byte) {
        return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(p), all(byte));
    }
    static std::uint64_t equal(const std::uint8_t* p, std::uint8_t byte) {
        return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), all(byte));
    }
    template <int kBit>
    static std::uint64_t bit(const std::uint8_t* p) {
        return _mm512_test_epi8_mask(_mm512_loadu_si512(p), all(1 << kBit));
    }

    // The bits of `from` at the places of `mask`, side by side; and back to those places.
    static std::uint64_t gather(std::uint64_t from, std::uint64_t mask) {
        return _pext_u64(from, mask);
    }
    static std::uint64_t scatter(std::uint64_t bits, std::uint64_t mask) {
        return _pdep_u64(bits, mask);
    }

 private:
    static __m512i all(std::uint8_t byte) { return _mm512_set1_epi8(static_cast<char>(byte)); }
};

TOKSMITH_TARGET_END

}  // namespace toksmith

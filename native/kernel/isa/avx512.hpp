// The vocabulary of an instruction set on AVX-512 (F, BW, VL).
#pragma once

#include <immintrin.h>

#include "isa/isa.hpp"
#include "isa/scalar.hpp"

namespace toksmith {

TOKSMITH_TARGET_BEGIN("avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512vl")

struct Avx512 {
    static std::size_t letters(const std::uint8_t* p, const std::uint8_t* end) {
        const std::uint8_t* q = p;
        while (q < end) {
            const auto left = static_cast<std::size_t>(end - q);
            // Masked-off lanes are not read, so the load may reach past the end.
            const __mmask64 inside =
                left >= 64 ? ~0ULL : _bzhi_u64(~0ULL, static_cast<unsigned>(left));
            const __m512i bytes = _mm512_maskz_loadu_epi8(inside, q);
            const __m512i lower = _mm512_or_si512(bytes, _mm512_set1_epi8(0x20));
            const __m512i moved = _mm512_sub_epi8(lower, _mm512_set1_epi8('a'));
            const std::uint64_t mask = ~_mm512_cmplt_epu8_mask(moved, _mm512_set1_epi8(26));
            if (mask != 0) {
                const auto run = static_cast<std::size_t>(__builtin_ctzll(mask));
                return static_cast<std::size_t>(q - p) + (run < left ? run : left);
            }
            q += 64;
        }
        return static_cast<std::size_t>(end - p);
    }
};

TOKSMITH_TARGET_END

}  // namespace toksmith

// The vocabulary of an instruction set on AVX2. Include inside its target region.
#pragma once

#include <immintrin.h>

#include "isa/isa.hpp"
#include "isa/scalar.hpp"

namespace toksmith {

TOKSMITH_TARGET_BEGIN("avx2,bmi,bmi2,lzcnt,popcnt")

struct Avx2 {
    static std::size_t letters(const std::uint8_t* p, const std::uint8_t* end) {
        const std::uint8_t* q = p;
        while (end - q >= 32) {
            const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(q));
            const __m256i lower = _mm256_or_si256(bytes, _mm256_set1_epi8(0x20));
            // Moved so that 'a'..'z' are the 26 smallest signed bytes.
            const __m256i moved =
                _mm256_sub_epi8(lower, _mm256_set1_epi8(static_cast<char>('a' + 128)));
            const __m256i beyond = _mm256_cmpgt_epi8(moved, _mm256_set1_epi8(-128 + 25));
            const auto mask = static_cast<std::uint32_t>(_mm256_movemask_epi8(beyond));
            if (mask != 0)
                return static_cast<std::size_t>(q - p) +
                       static_cast<std::size_t>(__builtin_ctz(mask));
            q += 32;
        }
        return static_cast<std::size_t>(q - p) + Scalar::letters(q, end);
    }
};

TOKSMITH_TARGET_END

}  // namespace toksmith

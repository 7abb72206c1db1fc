// The vector operations of the kernel for AVX-512 (F, BW, DQ, VL, VBMI, VBMI2) and BMI2. See
// avx2.hpp for what each one does.
#pragma once

// Some intrinsics of gcc use an undefined value on purpose, which causes warnings.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif
#include <immintrin.h>
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic pop
#endif

#include <array>

#include "simd/avx2.hpp"
#include "simd/byte_classes.hpp"
#include "simd/byte_pairs.hpp"
#include "simd/isa.hpp"
#include "simd/marked.hpp"
#include "simd/pairs.hpp"
#include "simd/to_utf8.hpp"

namespace toksmith {

TOKSMITH_AVX512_BEGIN

struct Avx512 {
    // The byte classes of the 64 bytes at p.
    [[gnu::always_inline]] static ByteMasks classify(const std::uint8_t* p) {
        const __m512i bytes = _mm512_loadu_si512(p);
        const __m512i found = classes(bytes, byte_classes::kLow, byte_classes::kHigh);
        const auto any = [found](std::uint8_t bits) -> std::uint64_t {
            return _mm512_test_epi8_mask(found, broadcast(bits));
        };
        const std::uint64_t letter = any(byte_classes::kLetter);
        return {
            .letter = letter,
            .upper = letter & ~_mm512_test_epi8_mask(bytes, broadcast(0x20)),
            .digit = any(byte_classes::kDigit),
            .space = any(byte_classes::kSpace),
            .blank = any(byte_classes::kBlank),
            .newline = any(byte_classes::kNewline),
            .quote = any(byte_classes::kQuote),
            .slash = any(byte_classes::kSlash),
            .high = _mm512_movepi8_mask(bytes),
        };
    }

    // One bit for each of the 64 bytes at p: whether it is at least `byte`, equals it, or has bit
    // kBit set.
    static std::uint64_t at_least(const std::uint8_t* p, std::uint8_t byte) {
        return _mm512_cmpge_epu8_mask(_mm512_loadu_si512(p), broadcast(byte));
    }
    static std::uint64_t equal(const std::uint8_t* p, std::uint8_t byte) {
        return _mm512_cmpeq_epi8_mask(_mm512_loadu_si512(p), broadcast(byte));
    }
    template <int kBit>
    static std::uint64_t bit(const std::uint8_t* p) {
        return _mm512_test_epi8_mask(_mm512_loadu_si512(p), broadcast(1 << kBit));
    }

    // One bit for each of the 64 bytes at p: whether `low` of its low half and `high` of its high
    // half have a common bit.
    static std::uint64_t in_classes(const std::uint8_t* p, const byte_classes::Halves& low,
                                    const byte_classes::Halves& high) {
        const __m512i found = classes(_mm512_loadu_si512(p), low, high);
        return _mm512_test_epi8_mask(found, found);
    }

    // See BytePairs::seconds.
    static std::uint64_t pairs(const std::uint8_t* p, const BytePairs::Sets& sets) {
        const __m512i first = _mm512_loadu_si512(p);
        // The bytes shifted by one. Does not read beyond the 64 bytes.
        const __m512i second = _mm512_maskz_loadu_epi8(~std::uint64_t{0} >> 1, p + 1);
        const __m512i number = of(sets.number, first);
        __m512i found = _mm512_setzero_si512();
        std::uint8_t i = 0;
        for (const BytePairs::Table& table : sets.tables) {
            const __mmask64 here = _mm512_cmpeq_epi8_mask(number, broadcast(i++));
            found = _mm512_or_si512(found, of(table, second, here));
        }
        const __mmask64 high = _mm512_movepi8_mask(_mm512_or_si512(first, second));
        return (_mm512_test_epi8_mask(found, of(sets.bit, first)) & ~high) << 1;
    }

    // See pairs::place_of.
    static std::size_t place_of_pair(const std::uint64_t* pairs, const std::uint64_t* pair) {
        const __m256i one =
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pair)));
        return pairs::kPlaces[_mm256_cmpeq_epi64_mask(
            one, _mm256_load_si256(reinterpret_cast<const __m256i*>(pairs)))];
    }

    // See marked::bitmask_to_pointers. Always writes 24 pointers: with 16, the branch would be
    // mispredicted for one window in three of English text.
    [[gnu::always_inline]] static std::size_t bitmask_to_pointers(const std::uint8_t* p,
                                                                  std::uint64_t marks,
                                                                  const std::uint8_t** places) {
        const auto count = static_cast<std::size_t>(_mm_popcnt_u64(marks));
        alignas(64) static constexpr auto kNumbers = [] {
            std::array<std::uint8_t, 64> numbers{};
            for (std::size_t i = 0; i < numbers.size(); ++i)
                numbers[i] = static_cast<std::uint8_t>(i);
            return numbers;
        }();
        const __m512i marked =
            _mm512_maskz_compress_epi8(marks, _mm512_load_si512(kNumbers.data()));
        const __m512i begin = _mm512_set1_epi64(reinterpret_cast<std::intptr_t>(p));
        const auto write = [&](std::size_t first, __m128i some) {  // eight pointers
            _mm512_storeu_si512(places + first,
                                _mm512_add_epi64(begin, _mm512_cvtepu8_epi64(some)));
        };
        const __m128i few = _mm512_castsi512_si128(marked);
        write(0, few);
        write(8, _mm_srli_si128(few, 8));
        write(16, _mm512_extracti32x4_epi32(marked, 1));
        if (count > 24) [[unlikely]] {
            alignas(64) std::uint8_t all[64];
            _mm512_store_si512(all, marked);
            for (std::size_t i = 24; i < count; i += 8)
                write(i, _mm_loadl_epi64(reinterpret_cast<const __m128i*>(all + i)));
        }
        return count;
    }

    // See to_utf8::write. Each character is spread over four bytes, and then the used bytes are
    // compacted.
    template <typename Unit>
    static std::uint8_t* write_utf8(const Unit* p, std::uint8_t* to, bool& surrogates) {
        const __m512i code = widened(p);
        const auto from = [code](std::uint32_t least) {
            return _mm512_cmpge_epu32_mask(code, Lanes::broadcast(least));
        };
        const __mmask16 several = from(0x80);
        if (several == 0) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm512_cvtepi32_epi8(code));
            return to + to_utf8::kCount;
        }
        surrogates |= Lanes::any(Lanes::equal(Lanes::bit_and(code, Lanes::broadcast(~0x7FFu)),
                                              Lanes::broadcast(0xD800)));
        // Six payload bits for each byte. The first byte of a character is lowest, and takes its
        // highest bits.
        const __m512i places = _mm512_set1_epi64(0x20262C32'00060C12);
        const __m512i sixes =
            _mm512_and_si512(_mm512_multishift_epi64_epi8(places, code), broadcast(0x3F));
        __m512i marks = _mm512_setzero_si512();  // the marker bits of multibyte characters
        marks = _mm512_mask_mov_epi32(marks, several, Lanes::broadcast(0x80C00000));
        marks = _mm512_mask_mov_epi32(marks, from(0x800), Lanes::broadcast(0x8080E000));
        marks = _mm512_mask_mov_epi32(marks, from(0x10000), Lanes::broadcast(0x808080F0));
        const __m512i bytes =
            Lanes::select(several, _mm512_or_si512(sixes, marks), _mm512_slli_epi32(code, 24));
        const __mmask64 used = _mm512_movepi8_mask(marks) | 0x8888888888888888;
        _mm512_storeu_si512(to, _mm512_maskz_compress_epi8(used, bytes));
        return to + _mm_popcnt_u64(used);
    }

    // Collects the bits of `from` that are set in `mask` into the low bits; pdep() is the inverse.
    static constexpr bool kFastPext = true;
    static std::uint64_t pext(std::uint64_t from, std::uint64_t mask) {
        return _pext_u64(from, mask);
    }
    static std::uint64_t pdep(std::uint64_t bits, std::uint64_t mask) {
        return _pdep_u64(bits, mask);
    }
    // The lowest `count` bits set; all bits if `count` is 64 or more.
    static std::uint64_t low_mask(unsigned count) { return _bzhi_u64(~std::uint64_t{0}, count); }

    // A vector of eight 64-bit integers.
    struct Words {
        static constexpr std::size_t kCount = 8;
        using Numbers = __m512i;

        static Numbers broadcast(std::uint64_t x) {
            return _mm512_set1_epi64(static_cast<std::int64_t>(x));
        }
        static Numbers load(const void* p) { return _mm512_loadu_si512(p); }
        static void store(void* p, Numbers x) { _mm512_storeu_si512(p, x); }
        // The two words that start at each pointer.
        struct Pairs {
            Numbers first, second;
        };
        static Pairs load_pairs(const std::uint8_t* const* places) {
            const auto pair = [places](int i) {
                return _mm_loadu_si128(reinterpret_cast<const __m128i*>(places[i]));
            };
            const auto two = [&](int i) { return _mm256_set_m128i(pair(i + 2), pair(i)); };
            const auto four = [&](int i) {
                return _mm512_inserti64x4(_mm512_castsi256_si512(two(i)), two(i + 4), 1);
            };
            const Numbers even = four(0), odd = four(1);
            return {_mm512_unpacklo_epi64(even, odd), _mm512_unpackhi_epi64(even, odd)};
        }
        static void store_pairs(void* p, Numbers first, Numbers second) {
            const __m512i some = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11);
            auto* const numbers = static_cast<Numbers*>(p);
            store(numbers, _mm512_permutex2var_epi64(first, some, second));
            store(numbers + 1, _mm512_permutex2var_epi64(first, add(some, broadcast(4)), second));
        }

        static Numbers add(Numbers a, Numbers b) { return _mm512_add_epi64(a, b); }
        static Numbers subtract(Numbers a, Numbers b) { return _mm512_sub_epi64(a, b); }
        // For numbers below 2^16: a - b, or 0 if b is larger.
        static Numbers saturating_sub(Numbers a, Numbers b) { return _mm512_subs_epu16(a, b); }
        template <std::uint64_t kFactor>
        static Numbers multiply(Numbers x) {
            return _mm512_mullo_epi64(x, broadcast(kFactor));
        }
        static Numbers bit_and(Numbers a, Numbers b) { return _mm512_and_si512(a, b); }
        static Numbers bit_or(Numbers a, Numbers b) { return _mm512_or_si512(a, b); }
        static Numbers and_not(Numbers a, Numbers b) { return _mm512_andnot_si512(b, a); }
        static Numbers left(Numbers x, int bits) { return _mm512_sll_epi64(x, shift(bits)); }
        static Numbers left(Numbers x, Numbers bits) { return _mm512_sllv_epi64(x, bits); }
        static Numbers right(Numbers x, int bits) { return _mm512_srl_epi64(x, shift(bits)); }
        // A bit for each lane: x is above `limit`, or y is 0.
        static unsigned above_or_zero(Numbers x, std::uint64_t limit, Numbers y) {
            return _mm512_cmpgt_epu64_mask(x, broadcast(limit)) | _mm512_testn_epi64_mask(y, y);
        }
    };

    // A vector of 16 32-bit integers.
    struct Lanes {
        static constexpr std::size_t kCount = 16;
        using Numbers = __m512i;
        using Mask = __mmask16;

        static Numbers broadcast(std::uint32_t x) { return _mm512_set1_epi32(static_cast<int>(x)); }
        static Numbers load(const std::uint32_t* p) { return _mm512_load_si512(p); }
        static void store(std::uint32_t* p, Numbers x) { _mm512_store_si512(p, x); }

        static Numbers add(Numbers a, Numbers b) { return _mm512_add_epi32(a, b); }
        static Numbers multiply(Numbers a, Numbers b) { return _mm512_mullo_epi32(a, b); }
        static Numbers lower(Numbers a, Numbers b) { return _mm512_min_epu32(a, b); }
        static Numbers bit_and(Numbers a, Numbers b) { return _mm512_and_si512(a, b); }
        static Numbers left(Numbers x, int bits) { return _mm512_sll_epi32(x, shift(bits)); }
        static Numbers right(Numbers x, int bits) { return _mm512_srl_epi32(x, shift(bits)); }

        static Numbers bit_xor(Numbers a, Numbers b) { return _mm512_xor_si512(a, b); }

        // The following operations treat numbers as float32.
        static Numbers add_floats(Numbers a, Numbers b) {
            return number(_mm512_add_ps(real(a), real(b)));
        }
        static Numbers lower_float(Numbers a, Numbers b) {
            return number(_mm512_min_ps(real(a), real(b)));
        }
        static Numbers larger_float(Numbers a, Numbers b) {
            return number(_mm512_max_ps(real(a), real(b)));
        }
        static Mask less_float(Numbers a, Numbers b) {
            return _mm512_cmp_ps_mask(real(a), real(b), _CMP_LT_OQ);
        }
        // The absolute values of floats: clears the sign bits.
        static Numbers abs(Numbers x) { return bit_and(x, broadcast(0x7FFFFFFF)); }

        static Mask equal(Numbers a, Numbers b) { return _mm512_cmpeq_epi32_mask(a, b); }
        static Mask less(Numbers a, Numbers b) { return _mm512_cmplt_epu32_mask(a, b); }
        static Mask bit_and(Mask a, Mask b) { return a & b; }
        static Mask bit_or(Mask a, Mask b) { return a | b; }
        static Mask and_not(Mask a, Mask b) { return a & ~b; }
        static bool any(Mask mask) { return mask != 0; }
        static Mask bit(Numbers words, Numbers number) {
            const Numbers bits = _mm512_sllv_epi32(broadcast(1), bit_and(number, broadcast(31)));
            return _mm512_test_epi32_mask(words, bits);
        }

        // `a` in the lanes of the mask, `b` in the others.
        static Numbers select(Mask mask, Numbers a, Numbers b) {
            return _mm512_mask_mov_epi32(b, mask, a);
        }
        static LanesInMemory<kCount> spilled(Numbers x) {
            LanesInMemory<kCount> result;
            store(result.numbers, x);
            result.stay();
            return result;
        }

        // p[index] in the lanes of the mask, `b` in the others.
        static Numbers gather(Mask mask, const std::uint32_t* p, Numbers index, Numbers b) {
            return _mm512_mask_i32gather_epi32(b, mask, index, p, 4);
        }
        // The low and high halves of the 64-bit words p[index], in the lanes of the mask. The other
        // lanes are undefined. Uses scalar loads, each of which loads both halves.
        static void look_up_halves(Mask mask, const std::uint64_t* p, Numbers index, Numbers& low,
                                   Numbers& high) {
            const auto at = spilled(_mm512_maskz_mov_epi32(mask, index));
            // double is the type of the instruction that loads half a vector.
            const auto* words = reinterpret_cast<const double*>(p);
            const auto two = [&](std::size_t lane) {
                return _mm_loadh_pd(_mm_load_sd(words + at[lane]), words + at[lane + 1]);
            };
            const auto four = [&](std::size_t lane) {
                return _mm256_set_m128d(two(lane + 2), two(lane));
            };
            const auto eight = [&](std::size_t lane) {
                const __m512d first = _mm512_castpd256_pd512(four(lane));
                return _mm512_castpd_si512(_mm512_insertf64x4(first, four(lane + 4), 1));
            };
            const __m512i a = eight(0), b = eight(8);
            const __m512i evens =
                _mm512_setr_epi32(0, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20, 22, 24, 26, 28, 30);
            low = _mm512_permutex2var_epi32(a, evens, b);
            high = _mm512_permutex2var_epi32(a, add(evens, broadcast(1)), b);
        }

     private:
        static __m512 real(Numbers x) { return _mm512_castsi512_ps(x); }
        static Numbers number(__m512 x) { return _mm512_castps_si512(x); }
    };

    // For work where some lanes end long before others, so that wider vectors would be idle.
    using FewLanes = Avx2::Lanes;

 private:
    static __m128i shift(int bits) { return _mm_cvtsi32_si128(bits); }
    static __m512i classes(__m512i bytes, const byte_classes::Halves& low,
                           const byte_classes::Halves& high) {
        const __m512i upper = _mm512_and_si512(_mm512_srli_epi16(bytes, 4), broadcast(0x0F));
        return _mm512_and_si512(_mm512_shuffle_epi8(_mm512_load_si512(low.data()), bytes),
                                _mm512_shuffle_epi8(_mm512_load_si512(high.data()), upper));
    }
    // table[byte] for ASCII bytes in the lanes of the mask; 0 in the others.
    static __m512i of(const BytePairs::Table& table, __m512i bytes,
                      __mmask64 mask = ~std::uint64_t{0}) {
        return _mm512_maskz_permutex2var_epi8(mask, _mm512_load_si512(table.of), bytes,
                                              _mm512_load_si512(table.of + 64));
    }
    static __m512i widened(const std::uint8_t* p) {
        return _mm512_cvtepu8_epi32(_mm_loadu_si128(reinterpret_cast<const __m128i*>(p)));
    }
    static __m512i widened(const std::uint16_t* p) {
        return _mm512_cvtepu16_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(p)));
    }
    static __m512i widened(const std::uint32_t* p) { return _mm512_loadu_si512(p); }
    static __m512i broadcast(std::uint8_t byte) {
        return _mm512_set1_epi8(static_cast<char>(byte));
    }
};

TOKSMITH_TARGET_END

}  // namespace toksmith

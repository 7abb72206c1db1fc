// The vector operations of the kernel for AVX2 and BMI2.
#pragma once

#include <immintrin.h>

#include <cstddef>
#include <cstdint>

#include "simd/byte_classes.hpp"
#include "simd/isa.hpp"
#include "simd/lanes_in_memory.hpp"
#include "simd/marked.hpp"
#include "simd/pairs.hpp"
#include "simd/to_utf8.hpp"

namespace toksmith {

TOKSMITH_AVX2_BEGIN

struct Avx2 {
    // The byte classes of the 64 bytes at p.
    [[gnu::always_inline]] static ByteMasks classify(const std::uint8_t* p) {
        const __m256i first = load(p), second = load(p + 32);
        const __m256i a = classes(first, byte_classes::kLow, byte_classes::kHigh);
        const __m256i b = classes(second, byte_classes::kLow, byte_classes::kHigh);
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

    // One bit for each of the 64 bytes at p: whether it is at least `byte`, equals it, or has bit
    // kBit set.
    static std::uint64_t at_least(const std::uint8_t* p, std::uint8_t byte) {
        const __m256i a = load(p), b = load(p + 32);
        return bit<7>(_mm256_cmpeq_epi8(_mm256_max_epu8(a, broadcast(byte)), a),
                      _mm256_cmpeq_epi8(_mm256_max_epu8(b, broadcast(byte)), b));
    }
    static std::uint64_t equal(const std::uint8_t* p, std::uint8_t byte) {
        return bit<7>(_mm256_cmpeq_epi8(load(p), broadcast(byte)),
                      _mm256_cmpeq_epi8(load(p + 32), broadcast(byte)));
    }
    template <int kBit>
    static std::uint64_t bit(const std::uint8_t* p) {
        return bit<kBit>(load(p), load(p + 32));
    }

    // One bit for each of the 64 bytes at p: whether `low` of its low half and `high` of its high
    // half have a common bit.
    static std::uint64_t in_classes(const std::uint8_t* p, const byte_classes::Halves& low,
                                    const byte_classes::Halves& high) {
        const auto none = [&](const std::uint8_t* some) {
            return _mm256_cmpeq_epi8(classes(load(some), low, high), _mm256_setzero_si256());
        };
        return ~bit<7>(none(p), none(p + 32));
    }

    // See pairs::place_of.
    static std::size_t place_of_pair(const std::uint64_t* pairs, const std::uint64_t* pair) {
        const __m256i one =
            _mm256_broadcastsi128_si256(_mm_loadu_si128(reinterpret_cast<const __m128i*>(pair)));
        const __m256i equal =
            _mm256_cmpeq_epi64(one, _mm256_load_si256(reinterpret_cast<const __m256i*>(pairs)));
        return pairs::kPlaces[static_cast<unsigned>(
            _mm256_movemask_pd(_mm256_castsi256_pd(equal)))];
    }

    // See marked::bitmask_to_pointers. Writes eight pointers for each eight bytes, however many are
    // marked: their number could only be mispredicted.
    [[gnu::always_inline]] static std::size_t bitmask_to_pointers(const std::uint8_t* p,
                                                                  std::uint64_t marks,
                                                                  const std::uint8_t** places) {
        const std::uint8_t** next = places;
#pragma GCC unroll 8
        for (unsigned i = 0; i < 64; i += 8) {
            const auto some = static_cast<std::uint8_t>(marks >> i);
            const __m128i numbers =
                _mm_loadl_epi64(reinterpret_cast<const __m128i*>(marked::kNumbers[some].data()));
            const Words::Numbers begin = Words::broadcast(reinterpret_cast<std::uintptr_t>(p + i));
            const auto four = [begin](__m128i from) {
                return Words::add(begin, _mm256_cvtepu8_epi64(from));
            };
            Words::store(next, four(numbers));
            Words::store(next + 4, four(_mm_srli_si128(numbers, 4)));
            next += _mm_popcnt_u32(some);
        }
        return static_cast<std::size_t>(next - places);
    }

    // See to_utf8::write. Each character is spread over four bytes, and then the used bytes are
    // compacted.
    template <typename Unit>
    static std::uint8_t* write_utf8(const Unit* p, std::uint8_t* to, bool& surrogates) {
        const __m256i first = widened(p), second = widened(p + Lanes::kCount);
        if (_mm256_testz_si256(_mm256_or_si256(first, second), Lanes::broadcast(~0x7Fu))) {
            const __m256i halves = _mm256_packus_epi32(first, second);  // 0 to 3, 8 to 11, 4 …
            const __m256i bytes = _mm256_permutevar8x32_epi32(
                _mm256_packus_epi16(halves, halves), _mm256_setr_epi32(0, 4, 1, 5, 0, 4, 1, 5));
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_castsi256_si128(bytes));
            return to + to_utf8::kCount;
        }
        to = write_eight<Unit>(first, to, surrogates);
        return write_eight<Unit>(second, to, surrogates);
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

    // A vector of four 64-bit integers.
    struct Words {
        static constexpr std::size_t kCount = 4;
        using Numbers = __m256i;

        static Numbers broadcast(std::uint64_t x) {
            return _mm256_set1_epi64x(static_cast<std::int64_t>(x));
        }
        static Numbers load(const void* p) {
            return _mm256_loadu_si256(static_cast<const __m256i*>(p));
        }
        static void store(void* p, Numbers x) { _mm256_storeu_si256(static_cast<__m256i*>(p), x); }
        // The two words that start at each pointer.
        struct Pairs {
            Numbers first, second;
        };
        static Pairs load_pairs(const std::uint8_t* const* places) {
            const auto pair = [places](int i) {
                return _mm_loadu_si128(reinterpret_cast<const __m128i*>(places[i]));
            };
            const Numbers even = _mm256_set_m128i(pair(2), pair(0));
            const Numbers odd = _mm256_set_m128i(pair(3), pair(1));
            return {_mm256_unpacklo_epi64(even, odd), _mm256_unpackhi_epi64(even, odd)};
        }
        static void store_pairs(void* p, Numbers first, Numbers second) {
            const Numbers even = _mm256_unpacklo_epi64(first, second);
            const Numbers odd = _mm256_unpackhi_epi64(first, second);
            auto* const numbers = static_cast<Numbers*>(p);
            store(numbers, _mm256_permute2x128_si256(even, odd, 0x20));
            store(numbers + 1, _mm256_permute2x128_si256(even, odd, 0x31));
        }

        static Numbers add(Numbers a, Numbers b) { return _mm256_add_epi64(a, b); }
        static Numbers subtract(Numbers a, Numbers b) { return _mm256_sub_epi64(a, b); }
        // For numbers below 2^16: a - b, or 0 if b is larger.
        static Numbers saturating_sub(Numbers a, Numbers b) { return _mm256_subs_epu16(a, b); }
        template <std::uint64_t kFactor>
        static Numbers multiply(Numbers x) {
            Numbers upper = _mm256_mul_epu32(right(x, 32), broadcast(kFactor));
            if constexpr (kFactor >> 32 != 0)
                upper = add(upper, _mm256_mul_epu32(x, broadcast(kFactor >> 32)));
            return add(_mm256_mul_epu32(x, broadcast(kFactor)), left(upper, 32));
        }
        static Numbers bit_and(Numbers a, Numbers b) { return _mm256_and_si256(a, b); }
        static Numbers bit_or(Numbers a, Numbers b) { return _mm256_or_si256(a, b); }
        static Numbers and_not(Numbers a, Numbers b) { return _mm256_andnot_si256(b, a); }
        static Numbers left(Numbers x, int bits) { return _mm256_sll_epi64(x, shift(bits)); }
        static Numbers left(Numbers x, Numbers bits) { return _mm256_sllv_epi64(x, bits); }
        static Numbers right(Numbers x, int bits) { return _mm256_srl_epi64(x, shift(bits)); }
        // A bit for each lane: x is above `limit`, or y is 0. x must be below 2^63.
        static unsigned above_or_zero(Numbers x, std::uint64_t limit, Numbers y) {
            const __m256i above = _mm256_cmpgt_epi64(x, broadcast(limit));
            const __m256i zero = _mm256_cmpeq_epi64(y, _mm256_setzero_si256());
            return static_cast<unsigned>(
                _mm256_movemask_pd(_mm256_castsi256_pd(_mm256_or_si256(above, zero))));
        }
    };

    // A vector of eight 32-bit integers.
    struct Lanes {
        static constexpr std::size_t kCount = 8;
        using Numbers = __m256i;
        struct Mask {
            __m256i bits;  // of each lane, all bits or none
        };

        static Numbers broadcast(std::uint32_t x) { return _mm256_set1_epi32(static_cast<int>(x)); }
        static Numbers load(const std::uint32_t* p) {
            return _mm256_load_si256(reinterpret_cast<const __m256i*>(p));
        }
        static void store(std::uint32_t* p, Numbers x) {
            _mm256_store_si256(reinterpret_cast<__m256i*>(p), x);
        }

        static Numbers add(Numbers a, Numbers b) { return _mm256_add_epi32(a, b); }
        static Numbers multiply(Numbers a, Numbers b) { return _mm256_mullo_epi32(a, b); }
        static Numbers lower(Numbers a, Numbers b) { return _mm256_min_epu32(a, b); }
        static Numbers bit_and(Numbers a, Numbers b) { return _mm256_and_si256(a, b); }
        static Numbers left(Numbers x, int bits) { return _mm256_sll_epi32(x, shift(bits)); }
        static Numbers right(Numbers x, int bits) { return _mm256_srl_epi32(x, shift(bits)); }

        static Numbers bit_xor(Numbers a, Numbers b) { return _mm256_xor_si256(a, b); }

        // The following operations treat numbers as float32.
        static Numbers add_floats(Numbers a, Numbers b) {
            return number(_mm256_add_ps(real(a), real(b)));
        }
        static Numbers lower_float(Numbers a, Numbers b) {
            return number(_mm256_min_ps(real(a), real(b)));
        }
        static Numbers larger_float(Numbers a, Numbers b) {
            return number(_mm256_max_ps(real(a), real(b)));
        }
        static Mask less_float(Numbers a, Numbers b) {
            return {number(_mm256_cmp_ps(real(a), real(b), _CMP_LT_OQ))};
        }
        // The absolute values of floats: clears the sign bits.
        static Numbers abs(Numbers x) { return bit_and(x, broadcast(0x7FFFFFFF)); }

        static Mask equal(Numbers a, Numbers b) { return {_mm256_cmpeq_epi32(a, b)}; }
        static Mask less(Numbers a, Numbers b) {
            return and_not({_mm256_cmpeq_epi32(_mm256_min_epu32(a, b), a)}, equal(a, b));
        }
        static Mask bit_and(Mask a, Mask b) { return {_mm256_and_si256(a.bits, b.bits)}; }
        static Mask bit_or(Mask a, Mask b) { return {_mm256_or_si256(a.bits, b.bits)}; }
        static Mask and_not(Mask a, Mask b) { return {_mm256_andnot_si256(b.bits, a.bits)}; }
        static bool any(Mask mask) { return _mm256_testz_si256(mask.bits, mask.bits) == 0; }
        static Mask bit(Numbers words, Numbers number) {
            const Numbers shifted = _mm256_srlv_epi32(words, bit_and(number, broadcast(31)));
            return equal(bit_and(shifted, broadcast(1)), broadcast(1));
        }

        // `a` in the lanes of the mask, `b` in the others.
        static Numbers select(Mask mask, Numbers a, Numbers b) {
            return _mm256_blendv_epi8(b, a, mask.bits);
        }
        static LanesInMemory<kCount> spilled(Numbers x) {
            LanesInMemory<kCount> result;
            store(result.numbers, x);
            result.stay();
            return result;
        }

        // p[index] in the lanes of the mask, `b` in the others. Uses scalar loads: gather
        // instructions are slower on processors whose best level is AVX2.
        static Numbers gather(Mask mask, const std::uint32_t* p, Numbers index, Numbers b) {
            const auto at = spilled(_mm256_and_si256(index, mask.bits));
            const auto four = [&](std::size_t lane) {
                __m128i words = _mm_cvtsi32_si128(static_cast<int>(p[at[lane]]));
                words = _mm_insert_epi32(words, static_cast<int>(p[at[lane + 1]]), 1);
                words = _mm_insert_epi32(words, static_cast<int>(p[at[lane + 2]]), 2);
                return _mm_insert_epi32(words, static_cast<int>(p[at[lane + 3]]), 3);
            };
            return select(mask, _mm256_set_m128i(four(4), four(0)), b);
        }
        // The low and high halves of the 64-bit words p[index], in the lanes of the mask. The other
        // lanes are undefined.
        static void look_up_halves(Mask mask, const std::uint64_t* p, Numbers index, Numbers& low,
                                   Numbers& high) {
            const auto at = spilled(_mm256_and_si256(index, mask.bits));
            const auto two = [&](std::size_t lane) {
                const auto first = static_cast<std::int64_t>(p[at[lane]]);
                const auto second = static_cast<std::int64_t>(p[at[lane + 1]]);
                return _mm_insert_epi64(_mm_cvtsi64_si128(first), second, 1);
            };
            const __m256 a = _mm256_castsi256_ps(_mm256_set_m128i(two(4), two(0)));
            const __m256 b = _mm256_castsi256_ps(_mm256_set_m128i(two(6), two(2)));
            low = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0x88));
            high = _mm256_castps_si256(_mm256_shuffle_ps(a, b, 0xDD));
        }

     private:
        static __m256 real(Numbers x) { return _mm256_castsi256_ps(x); }
        static Numbers number(__m256 x) { return _mm256_castps_si256(x); }
    };

    using FewLanes = Lanes;

 private:
    static __m128i shift(int bits) { return _mm_cvtsi32_si128(bits); }
    static __m256i load(const std::uint8_t* p) {
        return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    static __m256i broadcast(std::uint8_t byte) {
        return _mm256_set1_epi8(static_cast<char>(byte));
    }
    static __m256i classes(__m256i bytes, const byte_classes::Halves& low,
                           const byte_classes::Halves& high) {
        const __m256i upper = _mm256_and_si256(_mm256_srli_epi16(bytes, 4), broadcast(0x0F));
        return _mm256_and_si256(_mm256_shuffle_epi8(load(low.data()), bytes),
                                _mm256_shuffle_epi8(load(high.data()), upper));
    }
    // Zero-extends eight characters to 32 bits.
    template <typename Unit>
    static __m256i widened(const Unit* p) {
        const auto* const units = reinterpret_cast<const __m128i*>(p);
        if constexpr (sizeof(Unit) == 1) return _mm256_cvtepu8_epi32(_mm_loadl_epi64(units));
        if constexpr (sizeof(Unit) == 2) return _mm256_cvtepu16_epi32(_mm_loadu_si128(units));
        if constexpr (sizeof(Unit) == 4)
            return _mm256_loadu_si256(reinterpret_cast<const __m256i*>(p));
    }
    template <typename Unit>
    static std::uint8_t* write_eight(__m256i code, std::uint8_t* to, bool& surrogates) {
        const auto from = [&code](int least) {
            return _mm256_cmpgt_epi32(code, _mm256_set1_epi32(least - 1));
        };
        // Shifted to the left, then masked.
        const auto moved = [&code](int bits, std::uint32_t mask) {
            return Lanes::bit_and(Lanes::left(code, bits), Lanes::broadcast(mask));
        };
        // Six payload bits for each byte, the last byte lowest; and the marker bits of the bytes.
        const __m256i two = from(0x80), three = from(0x800);
        __m256i bytes = _mm256_or_si256(moved(0, 0x3F), moved(2, 0x3F00));
        __m256i marks = Lanes::bit_and(two, Lanes::broadcast(0xC080)),
                odd = Lanes::bit_xor(two, three);
        if constexpr (sizeof(Unit) > 1) {
            surrogates |= Lanes::any(Lanes::equal(moved(0, ~0x7FFu), Lanes::broadcast(0xD800)));
            bytes = _mm256_or_si256(bytes, moved(4, 0x3F0000));
            marks =
                Lanes::bit_xor(marks, Lanes::bit_and(three, Lanes::broadcast(0xC080 ^ 0xE08080)));
        }
        if constexpr (sizeof(Unit) > 2) {
            const __m256i four = from(0x10000);
            bytes = _mm256_or_si256(bytes, moved(6, 0x3F000000));
            marks = Lanes::bit_xor(marks,
                                   Lanes::bit_and(four, Lanes::broadcast(0xE08080 ^ 0xF0808080)));
            odd = Lanes::bit_xor(odd, four);
        }
        bytes = _mm256_blendv_epi8(code, _mm256_or_si256(bytes, marks), two);
        // The number of continuation bytes of each character, as two bit masks (low and high bit).
        const auto bits = [](__m256i lanes) {
            return static_cast<unsigned>(_mm256_movemask_ps(_mm256_castsi256_ps(lanes)));
        };
        const unsigned low = bits(odd), high = bits(three);
        const auto press = [&to](__m128i four, std::size_t sizes) {
            const auto& order =
                *reinterpret_cast<const __m128i*>(to_utf8::kPressing.orders[sizes].data());
            _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm_shuffle_epi8(four, order));
            to += to_utf8::kPressing.sizes[sizes];
        };
        press(_mm256_castsi256_si128(bytes), (low & 0xF) | (high & 0xF) << 4);
        press(_mm256_extracti128_si256(bytes, 1), low >> 4 | (high & 0xF0));
        return to;
    }
    // Bit kBit of each of the 64 bytes.
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

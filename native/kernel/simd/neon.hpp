// The vector operations of the kernel for NEON. See avx2.hpp for what each one does.
#pragma once

#include <arm_neon.h>

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "simd/bit_gather.hpp"
#include "simd/byte_classes.hpp"
#include "simd/isa.hpp"
#include "simd/lanes_in_memory.hpp"
#include "simd/marked.hpp"
#include "simd/pairs.hpp"
#include "simd/to_utf8.hpp"

namespace toksmith {

struct Neon {
    // The byte classes of the 64 bytes at p.
    [[gnu::always_inline]] static ByteMasks classify(const std::uint8_t* p) {
        const Bytes bytes = load(p);
        const Bytes found = classes(bytes, byte_classes::kLow, byte_classes::kHigh);
        const std::uint64_t letter = any(found, byte_classes::kLetter);
        const std::uint64_t newline = bit<3>(found), blank = bit<5>(found);
        return {
            .letter = letter,
            .upper = letter & ~bit<5>(bytes),
            .digit = bit<2>(found),
            .space = newline | bit<4>(found) | blank,
            .blank = blank,
            .newline = newline,
            .quote = bit<6>(found),
            .slash = bit<7>(found),
            .high = bit<7>(bytes),
        };
    }

    // One bit for each of the 64 bytes at p: whether it is at least `byte`, equals it, or has bit
    // kBit set.
    static std::uint64_t at_least(const std::uint8_t* p, std::uint8_t byte) {
        return mask(each(load(p), [byte](uint8x16_t x) { return vcgeq_u8(x, vdupq_n_u8(byte)); }));
    }
    static std::uint64_t equal(const std::uint8_t* p, std::uint8_t byte) {
        return mask(each(load(p), [byte](uint8x16_t x) { return vceqq_u8(x, vdupq_n_u8(byte)); }));
    }
    template <int kBit>
    static std::uint64_t bit(const std::uint8_t* p) {
        return bit<kBit>(load(p));
    }

    // One bit for each of the 64 bytes at p: whether `low` of its low half and `high` of its high
    // half have a common bit.
    static std::uint64_t in_classes(const std::uint8_t* p, const byte_classes::Halves& low,
                                    const byte_classes::Halves& high) {
        return any(classes(load(p), low, high), 0xFF);
    }

    // The scalar code, because a vector load has no acquire order: another thread's entry could be
    // read before its key.
    static constexpr auto place_of_pair = pairs::place_of;

    // The scalar code: it takes fewer instructions for the number of chunks in a window of text.
    static constexpr auto bitmask_to_pointers = marked::bitmask_to_pointers;

    // See to_utf8::write. Each character is spread over four bytes, and then the used bytes are
    // compacted.
    template <typename Unit>
    static std::uint8_t* write_utf8(const Unit* p, std::uint8_t* to, bool& surrogates) {
        const uint32x4_t a = widened(p), b = widened(p + 4), c = widened(p + 8),
                         d = widened(p + 12);
        if (vmaxvq_u32(vorrq_u32(vorrq_u32(a, b), vorrq_u32(c, d))) < 0x80) {
            const uint16x8_t first = vcombine_u16(vmovn_u32(a), vmovn_u32(b));
            const uint16x8_t second = vcombine_u16(vmovn_u32(c), vmovn_u32(d));
            vst1q_u8(to, vcombine_u8(vmovn_u16(first), vmovn_u16(second)));
            return to + to_utf8::kCount;
        }
        for (const uint32x4_t four : {a, b, c, d}) to = write_four<Unit>(four, to, surrogates);
        return to;
    }

    static constexpr bool kFastPext = false;
    static std::uint64_t pext(std::uint64_t from, std::uint64_t mask) {
        return bit_gather::pext(from, mask);
    }
    static std::uint64_t pdep(std::uint64_t bits, std::uint64_t mask) {
        return bit_gather::pdep(bits, mask);
    }
    // The lowest `count` bits set; all bits if `count` is 64 or more.
    static std::uint64_t low_mask(unsigned count) {
        return count < 64 ? (std::uint64_t{1} << count) - 1 : ~std::uint64_t{0};
    }

    using Words = void;  // keys are computed one by one: NEON cannot multiply 64-bit integers

    // A vector of four 32-bit integers.
    struct Lanes {
        static constexpr std::size_t kCount = 4;
        using Numbers = uint32x4_t;
        struct Mask {
            uint32x4_t bits;  // of each lane, all bits or none
        };

        static Numbers broadcast(std::uint32_t x) { return vdupq_n_u32(x); }
        static Numbers load(const std::uint32_t* p) { return vld1q_u32(p); }
        static void store(std::uint32_t* p, Numbers x) { vst1q_u32(p, x); }

        static Numbers add(Numbers a, Numbers b) { return vaddq_u32(a, b); }
        static Numbers multiply(Numbers a, Numbers b) { return vmulq_u32(a, b); }
        static Numbers lower(Numbers a, Numbers b) { return vminq_u32(a, b); }
        static Numbers bit_and(Numbers a, Numbers b) { return vandq_u32(a, b); }
        static Numbers left(Numbers x, int bits) { return vshlq_u32(x, vdupq_n_s32(bits)); }
        static Numbers right(Numbers x, int bits) { return vshlq_u32(x, vdupq_n_s32(-bits)); }

        static Numbers bit_xor(Numbers a, Numbers b) { return veorq_u32(a, b); }

        // The following operations treat numbers as float32.
        static Numbers add_floats(Numbers a, Numbers b) {
            return number(vaddq_f32(real(a), real(b)));
        }
        static Numbers lower_float(Numbers a, Numbers b) {
            return number(vminq_f32(real(a), real(b)));
        }
        static Numbers larger_float(Numbers a, Numbers b) {
            return number(vmaxq_f32(real(a), real(b)));
        }
        static Mask less_float(Numbers a, Numbers b) { return {vcltq_f32(real(a), real(b))}; }
        // The absolute values of floats: clears the sign bits.
        static Numbers abs(Numbers x) { return bit_and(x, broadcast(0x7FFFFFFF)); }

        static Mask equal(Numbers a, Numbers b) { return {vceqq_u32(a, b)}; }
        static Mask less(Numbers a, Numbers b) { return {vcltq_u32(a, b)}; }
        static Mask bit_and(Mask a, Mask b) { return {vandq_u32(a.bits, b.bits)}; }
        static Mask bit_or(Mask a, Mask b) { return {vorrq_u32(a.bits, b.bits)}; }
        static Mask and_not(Mask a, Mask b) { return {vbicq_u32(a.bits, b.bits)}; }
        static bool any(Mask mask) { return vmaxvq_u32(mask.bits) != 0; }
        static Mask bit(Numbers words, Numbers number) {
            const Numbers place = bit_and(number, broadcast(31));
            return {vtstq_u32(words, vshlq_u32(broadcast(1), vreinterpretq_s32_u32(place)))};
        }

        // `a` in the lanes of the mask, `b` in the others.
        static Numbers select(Mask mask, Numbers a, Numbers b) {
            return vbslq_u32(mask.bits, a, b);
        }
        static LanesInMemory<kCount> spilled(Numbers x) {
            LanesInMemory<kCount> result;
            store(result.numbers, x);
            result.stay();
            return result;
        }

        // p[index] in the lanes of the mask, `b` in the others.
        static Numbers gather(Mask mask, const std::uint32_t* p, Numbers index, Numbers b) {
            const auto at = spilled(vandq_u32(index, mask.bits));
            Numbers words = vld1q_dup_u32(p + at[0]);
            words = vld1q_lane_u32(p + at[1], words, 1);
            words = vld1q_lane_u32(p + at[2], words, 2);
            return select(mask, vld1q_lane_u32(p + at[3], words, 3), b);
        }
        // The low and high halves of the 64-bit words p[index], in the lanes of the mask. The other
        // lanes are undefined.
        static void look_up_halves(Mask mask, const std::uint64_t* p, Numbers index, Numbers& low,
                                   Numbers& high) {
            const auto at = spilled(vandq_u32(index, mask.bits));
            const auto two = [&](std::size_t lane) {
                return vreinterpretq_u32_u64(
                    vcombine_u64(vld1_u64(p + at[lane]), vld1_u64(p + at[lane + 1])));
            };
            const Numbers a = two(0), b = two(2);
            low = vuzp1q_u32(a, b);
            high = vuzp2q_u32(a, b);
        }

     private:
        static float32x4_t real(Numbers x) { return vreinterpretq_f32_u32(x); }
        static Numbers number(float32x4_t x) { return vreinterpretq_u32_f32(x); }
    };

    using FewLanes = Lanes;

 private:
    // 64 bytes: vector i has bytes i, i + 4, i + 8, … so that mask() takes few instructions.
    using Bytes = uint8x16x4_t;
    static Bytes load(const std::uint8_t* p) { return vld4q_u8(p); }
    template <typename Operation>
    [[gnu::always_inline]] static Bytes each(const Bytes& bytes, const Operation& operation) {
        return {{operation(bytes.val[0]), operation(bytes.val[1]), operation(bytes.val[2]),
                 operation(bytes.val[3])}};
    }
    // The highest bit of each byte. Each step inserts the highest bits of one vector below those of
    // another one; the last ones join the four bits of adjacent bytes.
    [[gnu::always_inline]] static std::uint64_t mask(const Bytes& bytes) {
        const uint8x16_t low = vsriq_n_u8(bytes.val[1], bytes.val[0], 1);
        const uint8x16_t high = vsriq_n_u8(bytes.val[3], bytes.val[2], 1);
        const uint8x16_t four = vsriq_n_u8(high, low, 2);
        const uint8x16_t twice = vsriq_n_u8(four, four, 4);
        const uint8x8_t all = vshrn_n_u16(vreinterpretq_u16_u8(twice), 4);
        return vget_lane_u64(vreinterpret_u64_u8(all), 0);
    }
    template <int kBit>
    static std::uint64_t bit(const Bytes& bytes) {
        return mask(each(bytes, [](uint8x16_t x) { return vshlq_n_u8(x, 7 - kBit); }));
    }
    static std::uint64_t any(const Bytes& bytes, std::uint8_t bits) {
        return mask(each(bytes, [bits](uint8x16_t x) { return vtstq_u8(x, vdupq_n_u8(bits)); }));
    }
    static Bytes classes(const Bytes& bytes, const byte_classes::Halves& low,
                         const byte_classes::Halves& high) {
        const uint8x16_t by_low = vld1q_u8(low.data()), by_high = vld1q_u8(high.data());
        return each(bytes, [&](uint8x16_t x) {
            return vandq_u8(vqtbl1q_u8(by_low, vandq_u8(x, vdupq_n_u8(0x0F))),
                            vqtbl1q_u8(by_high, vshrq_n_u8(x, 4)));
        });
    }
    // Zero-extends four characters to 32 bits.
    template <typename Unit>
    static uint32x4_t widened(const Unit* p) {
        const auto* const bytes = reinterpret_cast<const std::uint8_t*>(p);
        if constexpr (sizeof(Unit) == 1) {
            std::uint32_t four;
            std::memcpy(&four, bytes, sizeof four);
            return vmovl_u16(vget_low_u16(vmovl_u8(vcreate_u8(four))));
        }
        if constexpr (sizeof(Unit) == 2) return vmovl_u16(vreinterpret_u16_u8(vld1_u8(bytes)));
        if constexpr (sizeof(Unit) == 4) return vreinterpretq_u32_u8(vld1q_u8(bytes));
    }
    template <typename Unit>
    [[gnu::always_inline]] static std::uint8_t* write_four(uint32x4_t code, std::uint8_t* to,
                                                           bool& surrogates) {
        const auto from = [code](std::uint32_t least) {
            return vcgeq_u32(code, vdupq_n_u32(least));
        };
        // Shifted to the left, then masked.
        const auto moved = [code](int bits, std::uint32_t mask) {
            return Lanes::bit_and(Lanes::left(code, bits), Lanes::broadcast(mask));
        };
        // Six payload bits for each byte, the last byte lowest; and the marker bits of the bytes.
        const uint32x4_t two = from(0x80), three = from(0x800);
        uint32x4_t bytes = vorrq_u32(moved(0, 0x3F), moved(2, 0x3F00));
        uint32x4_t marks = vandq_u32(two, vdupq_n_u32(0xC080)), odd = veorq_u32(two, three);
        if constexpr (sizeof(Unit) > 1) {
            surrogates |= Lanes::any(Lanes::equal(moved(0, ~0x7FFu), Lanes::broadcast(0xD800)));
            bytes = vorrq_u32(bytes, moved(4, 0x3F0000));
            marks = veorq_u32(marks, vandq_u32(three, vdupq_n_u32(0xC080 ^ 0xE08080)));
        }
        if constexpr (sizeof(Unit) > 2) {
            const uint32x4_t four = from(0x10000);
            bytes = vorrq_u32(bytes, moved(6, 0x3F000000));
            marks = veorq_u32(marks, vandq_u32(four, vdupq_n_u32(0xE08080 ^ 0xF0808080)));
            odd = veorq_u32(odd, four);
        }
        bytes = vbslq_u32(two, vorrq_u32(bytes, marks), code);
        // The number of continuation bytes of each character: four low bits, then four high bits.
        static constexpr std::uint32_t kLow[4] = {1, 2, 4, 8}, kHigh[4] = {16, 32, 64, 128};
        const std::uint32_t sizes = vaddvq_u32(
            vorrq_u32(vandq_u32(odd, vld1q_u32(kLow)), vandq_u32(three, vld1q_u32(kHigh))));
        const uint8x16_t order = vld1q_u8(to_utf8::kPressing.orders[sizes].data());
        vst1q_u8(to, vqtbl1q_u8(vreinterpretq_u8_u32(bytes), order));
        return to + to_utf8::kPressing.sizes[sizes];
    }
};

}  // namespace toksmith

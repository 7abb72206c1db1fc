// The vector loop is the lookup algorithm of Keiser and Lemire, "Validating UTF-8 in less than one
// instruction per byte" (2021): each pair of adjacent bytes is looked up in three tables of 16
// entries, whose common bits are the possible errors of the pair.
#include "text/text.hpp"

#include <cstring>

#include "utf8/decode.hpp"

#if TOKSMITH_X86
#include <immintrin.h>
#elif TOKSMITH_ARM
#include <arm_neon.h>
#endif

namespace toksmith::utf8 {
namespace {

const Byte* by_characters(const Byte* p, const Byte* end) {
    while (p < end) {
        if (end - p >= 8 && is_ascii(p, p + 8)) {
            p += 8;
            continue;
        }
        const Char next = decode(p, end);
        if (next.code == kInvalid) return p;
        p += next.size;
    }
    return end;
}

#if TOKSMITH_X86 || TOKSMITH_ARM

constexpr Byte kTooShort = 1 << 0;   // a first byte that is not followed by a continuation byte
constexpr Byte kTooLong = 1 << 1;    // an ASCII byte that is followed by a continuation byte
constexpr Byte kOverlong3 = 1 << 2;  // E0, then 80 to 9F
constexpr Byte kTooLarge = 1 << 3;   // F4, then 90 or more; F5 or more
constexpr Byte kSurrogate = 1 << 4;  // ED, then A0 or more
constexpr Byte kOverlong2 = 1 << 5;  // C0 or C1
constexpr Byte kTooLarge1000 = 1 << 6;
constexpr Byte kOverlong4 = 1 << 6;         // F0, then 80 to 8F
constexpr Byte kTwoContinuations = 1 << 7;  // valid in a character of three or four bytes
constexpr Byte kCarry = kTooShort | kTooLong | kTwoContinuations;

alignas(16) constexpr Byte kFirstHigh[16] = {
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTooLong,
    kTwoContinuations,
    kTwoContinuations,
    kTwoContinuations,
    kTwoContinuations,
    kTooShort | kOverlong2,
    kTooShort,
    kTooShort | kOverlong3 | kSurrogate,
    kTooShort | kTooLarge | kTooLarge1000 | kOverlong4,
};
alignas(16) constexpr Byte kFirstLow[16] = {
    kCarry | kOverlong3 | kOverlong2 | kOverlong4,
    kCarry | kOverlong2,
    kCarry,
    kCarry,
    kCarry | kTooLarge,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000 | kSurrogate,
    kCarry | kTooLarge | kTooLarge1000,
    kCarry | kTooLarge | kTooLarge1000,
};
alignas(16) constexpr Byte kSecondHigh[16] = {
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooLong | kOverlong2 | kTwoContinuations | kOverlong3 | kTooLarge1000 | kOverlong4,
    kTooLong | kOverlong2 | kTwoContinuations | kOverlong3 | kTooLarge,
    kTooLong | kOverlong2 | kTwoContinuations | kSurrogate | kTooLarge,
    kTooLong | kOverlong2 | kTwoContinuations | kSurrogate | kTooLarge,
    kTooShort,
    kTooShort,
    kTooShort,
    kTooShort,
};

// Vectors of bytes. minus(): the difference, or 0 if it is negative.
#if TOKSMITH_X86

TOKSMITH_AVX2_BEGIN

using Block = __m256i;

[[gnu::always_inline]] inline Block load(const Byte* p) {
    return _mm256_loadu_si256(reinterpret_cast<const Block*>(p));
}
[[gnu::always_inline]] inline Block broadcast(Byte byte) {
    return _mm256_set1_epi8(static_cast<char>(byte));
}
[[gnu::always_inline]] inline Block lookup(const Byte* table, Block halves) {
    const __m128i sixteen = _mm_load_si128(reinterpret_cast<const __m128i*>(table));
    return _mm256_shuffle_epi8(_mm256_broadcastsi128_si256(sixteen), halves);
}
[[gnu::always_inline]] inline Block high_half(Block bytes) {
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), broadcast(0x0F));
}
[[gnu::always_inline]] inline Block minus(Block bytes, Byte least) {
    return _mm256_subs_epu8(bytes, broadcast(least));
}
[[gnu::always_inline]] inline bool is_ascii(Block bytes) {
    return _mm256_movemask_epi8(bytes) == 0;
}
[[gnu::always_inline]] inline bool is_zero(Block bytes) {
    return _mm256_testz_si256(bytes, bytes) != 0;
}

#else

using Block = uint8x16_t;

[[gnu::always_inline]] inline Block load(const Byte* p) { return vld1q_u8(p); }
[[gnu::always_inline]] inline Block broadcast(Byte byte) { return vdupq_n_u8(byte); }
[[gnu::always_inline]] inline Block lookup(const Byte* table, Block halves) {
    return vqtbl1q_u8(vld1q_u8(table), halves);
}
[[gnu::always_inline]] inline Block high_half(Block bytes) { return vshrq_n_u8(bytes, 4); }
[[gnu::always_inline]] inline Block minus(Block bytes, Byte least) {
    return vqsubq_u8(bytes, broadcast(least));
}
[[gnu::always_inline]] inline bool is_ascii(Block bytes) { return vmaxvq_u8(bytes) < 0x80; }
[[gnu::always_inline]] inline bool is_zero(Block bytes) { return vmaxvq_u8(bytes) == 0; }

#endif

// The errors of a block of bytes at p, from each byte and the three before it.
[[gnu::always_inline]] inline Block errors_at(const Byte* p) {
    const Block bytes = load(p), before = load(p - 1);
    const Block pairs = lookup(kFirstHigh, high_half(before)) &
                        lookup(kFirstLow, before & broadcast(0x0F)) &
                        lookup(kSecondHigh, high_half(bytes));
    // The high bit is set where a second or third continuation byte is required.
    const Block needed = minus(load(p - 2), 0xE0 - 0x80) | minus(load(p - 3), 0xF0 - 0x80);
    return pairs ^ (needed & broadcast(0x80));
}

// Returns a place before which the text is valid UTF-8 of whole characters, less than one stretch
// before the first invalid byte.
const Byte* by_blocks(const Byte* begin, const Byte* end) {
    constexpr std::ptrdiff_t kBlock = sizeof(Block), kStretch = 256;
    const Byte* known = begin;
    const Byte* p = begin + 3;
    while (end - p >= kStretch) {
        Block any = load(p);
        for (std::ptrdiff_t i = kBlock; i < kStretch; i += kBlock) any |= load(p + i);
        Block errors = broadcast(0);
        // ASCII after ASCII is valid.
        if (!is_ascii(any) || ((p[-1] | p[-2] | p[-3]) & 0x80) != 0) {
            for (std::ptrdiff_t i = 0; i < kStretch; i += kBlock) errors |= errors_at(p + i);
        }
        if (!is_zero(errors)) break;
        p += kStretch;
        known = p - 3;
        while (known > begin && is_continuation(*known)) --known;
    }
    return known;
}

#if TOKSMITH_X86
TOKSMITH_TARGET_END
#endif

#endif

}  // namespace

const std::uint8_t* first_invalid(const std::uint8_t* begin, const std::uint8_t* end,
                                  [[maybe_unused]] isa::Level level) {
#if TOKSMITH_X86 || TOKSMITH_ARM
    if (level != isa::Level::kScalar && end - begin > 3) {
        // errors_at() reads three bytes before each byte, so the first three bytes are decoded
        // separately.
        const Byte* start = begin;
        for (int i = 0; i < 3 && start < begin + 3; ++i) {
            const Char next = decode(start, end);
            if (next.code == kInvalid) return start;
            start += next.size;
        }
        begin = by_blocks(begin, end);
        if (begin < start) begin = start;
    }
#endif
    return by_characters(begin, end);
}

}  // namespace toksmith::utf8

// Copies with non-temporal stores: for results that are too large to stay in the processor's cache
// until they are read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/id_array.hpp"

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace toksmith {

inline void stream_copy(const Id* from, std::size_t count, Id* to) {
#if defined(__SSE2__)
    constexpr std::size_t kLine = 64 / sizeof(Id), kPart = sizeof(__m128i) / sizeof(Id);
    for (; count > 0 && reinterpret_cast<std::uintptr_t>(to) % 64 != 0; --count) *to++ = *from++;
    for (; count >= kLine; count -= kLine, from += kLine, to += kLine) {
        for (std::size_t i = 0; i < kLine; i += kPart) {
            _mm_stream_si128(reinterpret_cast<__m128i*>(to + i),
                             _mm_loadu_si128(reinterpret_cast<const __m128i*>(from + i)));
        }
    }
    _mm_sfence();  // before another thread reads them
#endif
    if (count > 0) std::memcpy(to, from, count * sizeof(Id));
}

}  // namespace toksmith

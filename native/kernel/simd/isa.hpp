// The instruction set that the kernel uses: the best one of this machine, or one that is forced.
#pragma once

#include <bit>
#include <string>
#include <string_view>

namespace toksmith::isa {

enum class Level { kScalar, kAvx2, kAvx512, kNeon };
inline constexpr int kLevels = 4;

std::string_view name(Level level);

bool is_available(Level level);

// The best level that this machine supports.
Level best();

// The level of a name ("" is the best). Throws std::invalid_argument if the name is unknown or this
// machine does not support it.
Level choose(std::string_view wanted);

}  // namespace toksmith::isa

// Vector lanes, keys and files are read as little-endian words.
static_assert(std::endian::native == std::endian::little,
              "toksmith needs a little-endian processor");

// The generic loops are compiled once for each level, inside a region that enables that level's
// instructions only. There is no global -march. NEON is a part of every 64-bit ARM processor, so it
// needs no region.
#if defined(__x86_64__) && (defined(__GNUC__) || defined(__clang__))
#define TOKSMITH_X86 1
#else
#define TOKSMITH_X86 0
#endif
#if defined(__aarch64__) && (defined(__GNUC__) || defined(__clang__))
#define TOKSMITH_ARM 1
#else
#define TOKSMITH_ARM 0
#endif

#define TOKSMITH_PRAGMA(text) _Pragma(#text)
#if defined(__clang__)
#define TOKSMITH_TARGET_BEGIN(features) \
    TOKSMITH_PRAGMA(clang attribute push(__attribute__((target(features))), apply_to = function))
#define TOKSMITH_TARGET_END _Pragma("clang attribute pop")
#else
#define TOKSMITH_TARGET_BEGIN(features) \
    _Pragma("GCC push_options") TOKSMITH_PRAGMA(GCC target(features))
#define TOKSMITH_TARGET_END _Pragma("GCC pop_options")
#endif
#define TOKSMITH_AVX2_BEGIN TOKSMITH_TARGET_BEGIN("avx2,bmi,bmi2,lzcnt,popcnt")
#define TOKSMITH_AVX512_BEGIN \
    TOKSMITH_TARGET_BEGIN(    \
        "avx2,bmi,bmi2,lzcnt,popcnt,avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vbmi2")

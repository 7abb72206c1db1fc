// Tests each operation of each instruction set, and what is prefetched with them. A wrong prefetch
// would otherwise only be noticed as lower speed.
#include "encode/kernels.hpp"
#include "kit.hpp"
#include "simd/isa.hpp"

#if TOKSMITH_X86

#include "simd/avx2.hpp"
#include "simd/avx512.hpp"

// Some intrinsics of gcc use an undefined value on purpose, which causes warnings.
#if defined(__GNUC__) && !defined(__clang__)
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#pragma GCC diagnostic ignored "-Wuninitialized"
#endif

namespace toksmith::test {

TOKSMITH_AVX2_BEGIN
namespace with_avx2 {
using Isa = Avx2;
#include "isa_checks.inc"
#include "prefetch_checks.inc"
}  // namespace with_avx2
TOKSMITH_TARGET_END

TOKSMITH_AVX512_BEGIN
namespace with_avx512 {
using Isa = Avx512;
#include "isa_checks.inc"
#include "prefetch_checks.inc"
}  // namespace with_avx512
TOKSMITH_TARGET_END

TEST(isa_operations_equal_loops) {
    if (isa::is_available(isa::Level::kAvx2)) with_avx2::check_vocabulary();
    if (isa::is_available(isa::Level::kAvx512)) with_avx512::check_vocabulary();
}

TEST(chunks_prefetched_in_lanes_have_the_keys_and_buckets_of_scalar_code) {
    if (isa::is_available(isa::Level::kAvx2)) with_avx2::check_prefetch();
    if (isa::is_available(isa::Level::kAvx512)) with_avx512::check_prefetch();
}

}  // namespace toksmith::test

#elif TOKSMITH_ARM

#include "simd/neon.hpp"

namespace toksmith::test {

namespace with_neon {
using Isa = Neon;
#include "isa_checks.inc"
}  // namespace with_neon

TEST(isa_operations_equal_loops) { with_neon::check_vocabulary(); }

}  // namespace toksmith::test

#endif

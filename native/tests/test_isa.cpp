// What each instruction set's vocabulary says, one word after the other, and what is asked for with
// it: a wrong one may show nowhere else but in how long things take.
#include "encode/kernels.hpp"
#include "kit.hpp"
#include "simd/isa.hpp"

#if TOKSMITH_X86

#include "simd/avx2.hpp"
#include "simd/avx512.hpp"

// Some of gcc's own intrinsics start from a value that they leave undefined on purpose.
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

TEST(isa_vocabularies_say_what_loops_say) {
    if (isa::best() >= isa::Level::kAvx2) with_avx2::check_vocabulary();
    if (isa::best() >= isa::Level::kAvx512) with_avx512::check_vocabulary();
}

TEST(chunks_asked_for_side_by_side_have_the_keys_and_lines_of_each) {
    if (isa::best() >= isa::Level::kAvx2) with_avx2::check_prefetch();
    if (isa::best() >= isa::Level::kAvx512) with_avx512::check_prefetch();
}

}  // namespace toksmith::test

#endif

#include "encode/kernels.hpp"
#include "models/bpe/lane_merge_table.hpp"
#include "models/unigram/lane_viterbi_table.hpp"
#include "split/unicode.hpp"

#if TOKSMITH_X86

#include "simd/avx512.hpp"

TOKSMITH_AVX512_BEGIN
namespace toksmith::avx512 {
namespace {

using Isa = Avx512;
#include "split/multibyte.inc"
#include "split/windows.inc"
// Encodes misses in vector lanes.
#include "encode/miss_batcher.inc"
// Uses next_ends() and MissBatcher from above.
#include "encode/chunk_loop.inc"

}  // namespace
}  // namespace toksmith::avx512
TOKSMITH_TARGET_END

const toksmith::EncodeKernels& toksmith::kernels_avx512() { return avx512::table(); }

#else  // isa::choose() never returns this level here

const toksmith::EncodeKernels& toksmith::kernels_avx512() { return kernels_scalar(); }

#endif

#include "encode/kernels.hpp"
#include "models/bpe/lane_merge_table.hpp"
#include "models/unigram/lane_viterbi_table.hpp"
#include "split/unicode.hpp"

#if TOKSMITH_ARM

#include "simd/neon.hpp"

namespace toksmith::neon {
namespace {

using Isa = Neon;
#include "split/multibyte.inc"
#include "split/windows.inc"
// Encodes misses in vector lanes.
#include "encode/miss_batcher.inc"
// Uses next_ends() and MissBatcher from above.
#include "encode/chunk_loop.inc"

}  // namespace
}  // namespace toksmith::neon

const toksmith::EncodeKernels& toksmith::kernels_neon() { return neon::table(); }

#else  // isa::choose() never returns this level here

const toksmith::EncodeKernels& toksmith::kernels_neon() { return kernels_scalar(); }

#endif

#include "encode/loops.hpp"
#include "models/bpe/lane_merge_table.hpp"
#include "models/unigram/lane_viterbi_table.hpp"
#include "split/unicode.hpp"

#if TOKSMITH_X86

#include "isa/avx512.hpp"

TOKSMITH_AVX512_BEGIN
namespace toksmith::avx512 {
namespace {

using Isa = Avx512;
#include "split/windows.inc"
// What encodes chunks that are new, many at once.
#include "encode/together.inc"
// The loops over what the first finds.
#include "encode/loops.inc"

}  // namespace
}  // namespace toksmith::avx512
TOKSMITH_TARGET_END

const toksmith::Loops& toksmith::loops_avx512() { return avx512::table(); }

#else  // isa::choose never gives this level here

const toksmith::Loops& toksmith::loops_avx512() { return loops_scalar(); }

#endif

// Places where a text may be cut without changing its chunks, found without reading it from the
// start: so that one long document can be worked on by several threads, or block by block.
#pragma once

#include "split/family.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

class CutTable;

// The first safe cut at or after `from`, or `end` where there is none.
//
// A cut is safe between a letter and what can neither continue a word nor a contraction: white
// space, or a symbol other than an apostrophe or a mark. Whichever alternative of the pattern the
// letter belongs to, its match ends there, and the next one starts there, whatever stands before.
// With Family::kModel the model's own boundaries are the cuts.
const utf8::Byte* safe_cut(Family family, const utf8::Byte* from, const utf8::Byte* end,
                           const CutTable* cut_table = nullptr);

}  // namespace toksmith

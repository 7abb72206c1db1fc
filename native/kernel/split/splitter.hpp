// Finds the chunks of a text by a split pattern, outside of the chunk loop; and places where a text
// may be cut without changing its chunks, found without reading it from the start, so that several
// threads can work on one long document, or a reader can go block by block.
#pragma once

#include <cstddef>

#include "simd/isa.hpp"
#include "split/family.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

// The ends of chunks that were written: how many, and the last one, where the next chunk starts.
// The last one is returned as a value, so that the caller need not wait for it to be stored.
struct Ends {
    std::size_t count;
    const utf8::Byte* last;
};

// The size of the array that a FindChunks writes to.
inline constexpr std::size_t kMostEnds = 256;

// Writes the ends of the next chunks, at least one. p < end is the start of a chunk. The rest of
// the array may be overwritten.
using FindChunks = Ends (*)(const utf8::Byte* p, const utf8::Byte* end, const utf8::Byte** ends);

// Throws std::invalid_argument for Family::kModel, which is no pattern.
FindChunks find_chunks_of(Family family, isa::Level level);

class CutTable;

// The first safe cut at or after `from`, or `end` if there is none.
//
// A cut is safe between a letter and a character that can neither continue a word nor a
// contraction: white space, or a symbol other than an apostrophe or a mark. Whichever alternative
// of the pattern the letter belongs to, its match ends there, and the next one starts there,
// whatever precedes. For Family::kModel the cuts are those of the table.
const utf8::Byte* safe_cut(Family family, const utf8::Byte* from, const utf8::Byte* end,
                           const CutTable* cut_table = nullptr);

}  // namespace toksmith

// Finds the chunks of a text by a split pattern, outside of the chunk loop. Also finds places where
// a text may be cut without changing its chunks, without reading it from the start: several threads
// can work on one long document, and a reader can proceed block by block.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "simd/isa.hpp"
#include "split/family.hpp"
#include "split/split_table.hpp"
#include "text/text.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

// How texts are split.
struct Splitter {
    Splitter(Family of) : family(of) {}
    static constexpr std::size_t kMostTables = 6;
    // Throws std::invalid_argument if there are no tables, or more than kMostTables, or if one may
    // get lost that is not the first of several.
    explicit Splitter(std::vector<SplitTable> tables);

    Family family;
    // For Family::kTable: each table splits the pieces that the one before it left. A first one
    // that may get lost does the work of all others.
    std::shared_ptr<const std::vector<SplitTable>> tables;
};

// The number of chunk ends that were written, and the last one, where the next chunk starts. The
// last one is in a register, so that the caller need not wait for the store.
struct Ends {
    std::size_t count;
    const utf8::Byte* last;
};

// The size of the array that FindChunks writes to.
inline constexpr std::size_t kMostEnds = 256;

// Writes the ends of the next chunks to `ends`, at least one. p < end is the start of a chunk. May
// overwrite the rest of the array.
using FindChunks = Ends (*)(const utf8::Byte* p, const utf8::Byte* end, const utf8::Byte** ends);

// Throws std::invalid_argument for Family::kModel and Family::kTable, which are no patterns.
FindChunks find_chunks_of(Family family, isa::Level level);

// Finds all chunks of a text by tables: calls visit(ends, count) with the next `count` ends.
using VisitEnds = std::function<void(const utf8::Byte* const* ends, std::size_t count)>;
using FindByTables = void (*)(std::span<const SplitTable> tables, Text text,
                              const VisitEnds& visit);

FindByTables find_by_tables_of(isa::Level level);

class CutTable;

// The first safe cut at or after `from`, or `end` if there is none.
//
// A cut is safe between a letter and a character that continues neither a word nor a contraction:
// white space, or a symbol other than an apostrophe or a mark. The match that contains the letter
// ends there, whichever alternative of the pattern it is, and the next match starts there. For
// Family::kModel, `cut_table` finds the cuts; for Family::kTable, the first table lists them.
const utf8::Byte* safe_cut(const Splitter& splitter, const utf8::Byte* from, const utf8::Byte* end,
                           const CutTable* cut_table = nullptr);

}  // namespace toksmith

// Turns counted chunks of a text into counted pieces: runs the normalizer and the splitter on each
// distinct chunk, and counts what they make of it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "counting/distinct_chunks.hpp"
#include "fused/stage_runner.hpp"

namespace toksmith {

struct CountedTexts {
    const std::uint8_t* bytes = nullptr;    // all texts, concatenated
    std::span<const std::uint64_t> ends{};  // the end of each text in `bytes`
    std::span<const std::uint64_t> counts{};
};

// Returns the pieces of the chunks, and `pieces`, which are pieces already. They are in the order
// of their first occurrences, `pieces` first. The result does not depend on the number of threads.
DistinctChunks count_pieces(const CountedTexts& pieces, const CountedTexts& chunks,
                            const StageRunner& stages, std::size_t threads);

}  // namespace toksmith

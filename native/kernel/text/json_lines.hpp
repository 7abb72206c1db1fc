// Reads one field of JSON Lines: the texts of a corpus.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "simd/isa.hpp"
#include "text/text.hpp"

namespace toksmith {

struct JsonTexts {
    // The end of each text in the output; each starts where the one before ends.
    std::vector<std::int64_t> ends;
    // For each line that was not read: the number of texts before it, its number from 0, and its
    // start and end.
    std::vector<std::int64_t> refused;
    std::int64_t lines = 0;
};

// Reads a string field of the JSON object of each line; skips empty lines.
//
// A line is read only if it is beyond doubt: valid JSON, with the field once, and no deep nesting,
// very long number, or unpaired surrogate. The caller reads the others, or reports them.
//
// `out` receives the texts in UTF-8, end to end; it has room for as many bytes as the lines have.
JsonTexts read_json_lines(Text lines, std::string_view field, std::uint8_t* out, isa::Level level);

}  // namespace toksmith

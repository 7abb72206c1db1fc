// Suffixes as sorted runs in a file, for words that do not fit into memory together.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include "counting/runs.hpp"
#include "training/unigram/suffixes.hpp"

namespace toksmith::unigram {

// Writes the first `depth` characters of all suffixes of words with their counts. A record is a
// string of characters (see ordered_bytes.hpp).
SortedRun write_suffixes(const CountedWords& words, std::size_t depth, BlockFile& file,
                         const Workers& workers);

// Calls found(substring, string) for each substring of 2 or more characters that suffixes share, in
// no fixed order. `string` starts with the substring, as characters plus 1. Frees the runs.
using FoundInRuns = std::function<void(const Shared&, const std::uint32_t* string)>;
void shared_in_runs(BlockFile& file, std::vector<SortedRun> runs, std::size_t memory,
                    const FoundInRuns& found);

}  // namespace toksmith::unigram

// Vocabularies of tiktoken, which are given by ranks alone: reading the files, and recovering the
// merges.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "models/bpe/model.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {

// Reads a file of tiktoken. Each line is a token in base64, a space and its rank.
//
// Returns the tokens by rank; ranks that no line has are empty. Returns nothing if a line is
// malformed, a token or a rank occurs twice, or a rank is above `most`; the caller finds out which.
std::optional<Vocabulary> read_ranks(std::string_view text, Id most);

// The merges of a vocabulary that is given by ranks alone, in rank order. The merge of a token is
// the pair that its bytes merge to with the merges of all other tokens. A token whose bytes merge
// to more than two has none. Throws std::invalid_argument if a byte has no id.
std::vector<MergeRule> recover_merges(const Vocabulary& vocabulary);

}  // namespace toksmith::bpe

// Reads tiktoken vocabularies, which have ranks but no merges, and recovers their merges.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "models/bpe/model.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {

// Reads a .tiktoken file. Each line is a token in base64, a space, and its rank.
//
// Returns the tokens by rank; ranks without a line are empty. Returns nothing if a line is
// malformed, a token or a rank occurs twice, or a rank is above `most`; the caller then reports the
// exact error.
std::optional<Vocabulary> read_ranks(std::string_view text, Id most);

// The merges of a vocabulary that has ranks only, in rank order. The merge of a token is the pair
// to which its bytes merge by the merges of all other tokens. If they merge to more than two
// tokens, it has no merge. Throws std::invalid_argument if a byte has no id.
std::vector<MergeRule> recover_merges(const Vocabulary& vocabulary);

}  // namespace toksmith::bpe

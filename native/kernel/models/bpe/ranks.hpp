// Vocabularies that are given by ranks alone, as tiktoken's are.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "models/bpe/model.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {

// Reads a file of tiktoken: a line is a token in base64, a space and its rank.
//
// The tokens by rank; those that no line has are empty. Nothing where a line is not as it should
// be, a token or a rank stands twice, or a rank is above `most`: what is wrong then is for others
// to say.
std::optional<Vocabulary> read_ranks(std::string_view text, Id most);

// The merges of a vocabulary that is given by ranks alone (tiktoken), in rank order. The merge of a
// token is the pair that its bytes come down to with all other tokens; a token whose bytes come
// down to more than a pair has none. Throws like BpeModel where a byte has no id.
std::vector<MergeRule> recover_merges(const Vocabulary& vocabulary);

}  // namespace toksmith::bpe

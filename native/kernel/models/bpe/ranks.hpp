// tiktoken's files: a line is a token in base64, a space and its rank.
#pragma once

#include <optional>
#include <string_view>

#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {

// The tokens by rank; those that no line has are empty. Nothing where a line is not as it should
// be, a token or a rank stands twice, or a rank is above `most`: what is wrong then is for others
// to say.
std::optional<Vocabulary> read_ranks(std::string_view text, Id most);

}  // namespace toksmith::bpe

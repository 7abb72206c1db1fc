// The score of an unknown character, for Unigram models and their training.
#pragma once

namespace toksmith::unigram {

// An unknown character scores this much less than the piece with the lowest score, as in
// SentencePiece.
inline constexpr double kUnknownPenalty = 10;

}  // namespace toksmith::unigram

// BPE training from counted chunks: of bytes, of any symbols, and of SentencePiece's characters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "training/piece_rules.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

enum class Ties {
    kFirstSeen,     // of equal counts, the pair that is first in the text
    kSmallestPair,  // of equal counts, the smaller (left, right)
};

struct TrainingOptions {
    std::size_t tokens = 0;  // new ids to make
    Ties ties = Ties::kFirstSeen;
    std::uint64_t min_frequency = 1;
    std::size_t max_token_length = 0;  // in bytes or symbols; 0: no limit
    Sharing sharing{};
};

// All end early if no pair is frequent enough, and throw std::length_error if the chunks have 2^31
// symbols or more. The initial symbols have the first ids.

// IdArray 0..255 are the bytes.
Training train(const CountedChunks& chunks, const TrainingOptions& options, const Watch& watch);

// All symbols are below `alphabet.size`. To continue a training, give the chunks as the ids of
// their merged symbols.
Training train(const CountedSymbols& chunks, const Alphabet& alphabet,
               const TrainingOptions& options, const Watch& watch);

// WordPiece's objective: count(pair) / (count(left) * count(right)).
Training train_likelihood(const CountedSymbols& chunks, std::size_t alphabet, std::size_t tokens,
                          std::uint64_t min_frequency, const Sharing& sharing, const Watch& watch);

// SentencePiece: symbols are characters, with ids in the order of their code points. No piece
// reaches out of one of the first `cut` words, most of which are distinct.
Training train_pieces(const CountedSymbols& words, std::size_t cut,
                      const std::vector<PieceTraits>& alphabet, const PieceRules& rules,
                      std::size_t tokens, const Sharing& sharing, const Watch& watch);

}  // namespace toksmith::bpe

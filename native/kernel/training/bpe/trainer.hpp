// BPE training from counted chunks: on bytes, on any symbols, and on SentencePiece's characters.
#pragma once

#include <cstddef>
#include <cstdint>

#include "training/bpe/chunk_store.hpp"
#include "training/piece_rules.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

enum class Ties {
    kFirstSeen,     // the one that occurs first in the text
    kSmallestPair,  // the one with the smaller (left, right)
};

struct TrainingOptions {
    std::size_t tokens = 0;  // the number of merges
    Ties ties = Ties::kFirstSeen;
    std::uint64_t min_frequency = 1;
    std::size_t max_token_length = 0;  // in bytes or symbols; 0: no limit
    Sharing sharing{};
};

// Each function stops early if no pair is frequent enough. Throws std::length_error if the chunks
// have 2^31 or more symbols. The initial symbols have the lowest ids.

// Symbols are bytes, with ids 0 to 255.
Training train(const CountedChunks& chunks, const TrainingOptions& options, const Watch& watch);

// All symbols are below `alphabet.size`. To continue a training, pass the chunks as the ids of
// their merged symbols.
Training train(const CountedSymbols& chunks, const Alphabet& alphabet,
               const TrainingOptions& options, const Watch& watch);

// The same from stored chunks, which are merged in place: on all at once, if `memory` bytes suffice
// for that, else in phases. The result does not depend on the memory.
Training train(ChunkStore& store, const Alphabet& alphabet, const TrainingOptions& options,
               std::size_t memory, const Watch& watch);

// The same by WordPiece's criterion, count(pair) / (count(left) * count(right)).
Training train_likelihood(ChunkStore& store, std::size_t alphabet, std::size_t tokens,
                          std::uint64_t min_frequency, const Sharing& sharing, std::size_t memory,
                          const Watch& watch);

// SentencePiece's criterion. Symbols are characters, with ids in the order of their code points.
// After the first `cut` words, which are mostly distinct, words are cut where no piece can cross.
Training train_pieces(const CountedSymbols& words, std::size_t cut,
                      const std::vector<PieceTraits>& alphabet, const PieceRules& rules,
                      std::size_t tokens, const Sharing& sharing, const Watch& watch);

// The same from stored words.
Training train_pieces(ChunkStore& store, const std::vector<PieceTraits>& alphabet,
                      const PieceRules& rules, std::size_t tokens, const Sharing& sharing,
                      std::size_t memory, const Watch& watch);

}  // namespace toksmith::bpe

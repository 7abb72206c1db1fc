// Training by likelihood when the words do not fit into memory: in phases, of which each learns
// from the words that hold some of the likeliest pairs.
//
// A phase reads all words three times: it applies the merges of the phase before, counts all pairs,
// and takes the words that hold any of the pairs that it covers. All occurrences of a covered pair
// are in these words, and so are those of each pair that a merge makes. The counts of as many other
// pairs as fit are known too, so that it shows when one of them becomes the best. All others are
// bounded (MostLikelyKnown). The phase ends when the best pair is not covered, or perhaps unknown.
//
// BPE's phases (phases.hpp) do not apply: there, a rare pair never becomes the best one.
#pragma once

#include <cstddef>
#include <cstdint>

#include "training/bpe/chunk_store.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

// `memory`: of a phase, in bytes, besides the memory of `store`, whose chunks are replaced by
// merged ones. The result does not depend on it.
Training train_likelihood_in_phases(ChunkStore& store, std::size_t alphabet, std::size_t tokens,
                                    std::uint64_t min_frequency, const Sharing& sharing,
                                    std::size_t memory, const Watch& watch);

}  // namespace toksmith::bpe

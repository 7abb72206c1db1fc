// BPE training from counted chunks: pairs with their places, and a queue that is put right lazily.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "bpe/model.hpp"

namespace toksmith::bpe {

enum class Ties {
    kFirstSeen,     // of equal counts, the pair that stands first in the text
    kSmallestPair,  // of equal counts, the smaller (left, right)
};

struct TrainingOptions {
    std::size_t tokens = 0;  // how many new ids to make
    Ties ties = Ties::kFirstSeen;
    std::uint64_t min_frequency = 1;
    std::size_t max_token_length = 0;  // in bytes; 0: no limit
};

// Distinct chunks in the order in which they were first seen.
struct CountedChunks {
    const std::uint8_t* bytes = nullptr;  // all chunks end to end
    std::vector<std::uint64_t> ends;      // of each chunk in `bytes`
    std::vector<std::uint64_t> counts;
};

struct Training {
    std::vector<MergeRule> merges;
    std::vector<std::uint64_t> counts;  // of each merge's pair when it was chosen
    std::vector<std::uint64_t> tokens;  // of the whole text after each merge
};

// Called after each merge; stops the training by returning false.
using Watch = std::function<bool(const MergeRule& merge, std::uint64_t count)>;

// Ids 0..255 are the bytes; new ids follow. Ends early where no pair is frequent enough.
// Throws std::length_error where the chunks come to 2 GiB or more.
Training train(const CountedChunks& chunks, const TrainingOptions& options, const Watch& watch);

}  // namespace toksmith::bpe

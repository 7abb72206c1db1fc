// What training by merging takes and gives.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "bpe/model.hpp"

namespace toksmith::bpe {

// Distinct chunks in the order in which they were first seen; they are whoever's who made this.
template <typename Symbol>
struct Counted {
    const Symbol* symbols = nullptr;        // all chunks end to end
    std::span<const std::uint64_t> ends{};  // of each chunk in `symbols`
    std::span<const std::uint64_t> counts{};
};

using CountedChunks = Counted<std::uint8_t>;  // of bytes
using CountedSymbols = Counted<Id>;           // of any ids

struct Training {
    std::vector<MergeRule> merges;
    std::vector<std::uint64_t> counts;  // of each merge's pair when it was chosen
    std::vector<std::uint64_t> tokens;  // of the whole text after each merge
};

// The ids that training starts with.
struct Alphabet {
    std::size_t size = 0;
    std::vector<std::uint32_t> places{};  // in which order ties take them; those that lack go by id
    std::vector<std::uint32_t> lengths{};  // of each, for the longest token; empty: 1 each
};

// Called after each merge with all that is learned; stops the training by returning false.
using Watch = std::function<bool(const Training& so_far)>;

}  // namespace toksmith::bpe

// What training by merging takes and gives.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "models/bpe/model.hpp"

namespace toksmith::bpe {

// Distinct chunks in the order in which they were first seen; they are whoever's who made this.
template <typename Symbol>
struct Counted {
    const Symbol* symbols = nullptr;        // all chunks end to end
    std::span<const std::uint64_t> ends{};  // of each chunk in `symbols`
    std::span<const std::uint64_t> counts{};

    // How many symbols there are.
    std::uint64_t size() const { return ends.empty() ? 0 : ends.back(); }
    // The first chunk of a share, where all are cut into so many shares of about equal size.
    std::size_t cut(std::size_t share, std::size_t shares) const {
        if (share == shares) return ends.size();
        const auto chunk = std::lower_bound(ends.begin(), ends.end(), size() / shares * share);
        return static_cast<std::size_t>(chunk - ends.begin());
    }
};

using CountedChunks = Counted<std::uint8_t>;  // of bytes
using CountedSymbols = Counted<Id>;           // of any ids

struct Training {
    std::vector<MergeRule> merges;
    std::vector<std::uint64_t> counts;  // of each merge's pair when it was chosen
    std::vector<std::uint64_t> tokens;  // of the whole text after each merge
};

// How many threads share the work; the result does not depend on it.
struct Sharing {
    std::size_t threads = 1;
    std::size_t least = 1'000;  // places of a share: fewer take less time than handing them over

    // Small texts leave no work for a second thread, and hardly any a ninth.
    std::size_t threads_for(std::uint64_t symbols) const {
        return std::clamp<std::uint64_t>(symbols / (16 * least), 1, std::min(threads, kMost));
    }

 private:
    static constexpr std::size_t kMost = 8;
};

// The ids that training starts with.
struct Alphabet {
    std::size_t size = 0;
    std::vector<std::uint32_t> places{};  // in which order ties take them; those that lack go by id
    std::vector<std::uint32_t> lengths{};  // of each, for the longest token; empty: 1 each
};

// Called after each merge with all that is learned, and once more when the training is stopped (see
// stop.hpp); ends the training by returning false.
using Watch = std::function<bool(const Training& so_far)>;

}  // namespace toksmith::bpe

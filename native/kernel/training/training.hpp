// The input and result of training by merging.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "base/stop.hpp"
#include "models/bpe/model.hpp"

namespace toksmith::bpe {

// A view of distinct chunks in the order of their first occurrences.
template <typename Symbol>
struct Counted {
    const Symbol* symbols = nullptr;        // all chunks, concatenated
    std::span<const std::uint64_t> ends{};  // the end of each chunk in `symbols`
    std::span<const std::uint64_t> counts{};

    // The number of symbols.
    std::uint64_t size() const { return ends.empty() ? 0 : ends.back(); }
    // The index of the first chunk of a share, if the chunks are divided into `shares` shares of
    // about equal size.
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
    std::vector<std::uint64_t> counts;  // for each merge, the count of its pair when it was chosen
    std::vector<std::uint64_t> tokens;  // after each merge, the number of tokens of the whole text
};

// How to divide the work among threads. The result does not depend on it.
struct Sharing {
    std::size_t threads = 1;
    // The minimum number of positions in a share; with fewer, handing it to a thread costs more
    // than the work.
    std::size_t least = 1'000;

    // Small texts do not pay for a second thread, and hardly any text pays for a ninth.
    std::size_t threads_for(std::uint64_t symbols) const {
        return std::clamp<std::uint64_t>(symbols / (16 * least), 1, std::min(threads, kMost));
    }

 private:
    static constexpr std::size_t kMost = 8;
};

// The initial symbols.
struct Alphabet {
    std::size_t size = 0;
    std::vector<std::uint32_t> places{};   // their order in ties; those without a place, by id
    std::vector<std::uint32_t> lengths{};  // for max_token_length; empty: all are 1
};

// Called after each merge with the result so far, and once more if the training is interrupted (see
// stop.hpp). Returns false to end the training.
using Watch = std::function<bool(const Training& so_far)>;

// Calls train(), which fills `result`. If it is interrupted, calls `watch` once more.
template <typename Train>
void keep_at_stop(const Watch& watch, const Training& result, const Train& train) {
    try {
        train();
    } catch (...) {
        const Stop* const stop = Stop::current();
        if (watch && stop && stop->requested()) watch(result);
        throw;
    }
}

}  // namespace toksmith::bpe

// Passes over all words.
#pragma once

#include <cstdint>
#include <vector>

#include "training/unigram/lattices.hpp"

namespace toksmith::unigram {

// A character that is no piece scores this much less than the worst piece.
inline constexpr double kUnknownPenalty = 10.0;

struct Expected {
    std::vector<double> counts;  // of each piece
    double log_likelihood;       // of the text
};

// How often each piece is expected in the text, over all ways to write it (forward-backward).
Expected expect(const CountedWords& words, const Seeds& seeds, const Workers& workers);

// Marks the pieces whose loss costs the text least, so that `size` are left.
std::vector<std::uint8_t> superfluous(const CountedWords& words, const Seeds& seeds,
                                      std::size_t size, const Workers& workers);

}  // namespace toksmith::unigram

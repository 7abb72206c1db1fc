// The two steps of training that read all tries: expectation and pruning.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "training/unigram/tries.hpp"

namespace toksmith::unigram {

// The score of an unknown character: below that of every piece.
double unknown_score(const std::vector<Piece>& pieces);

struct Expected {
    std::vector<double> counts;  // the expected count of each piece
    double log_likelihood;       // of the whole text
};

// The expectation step: computes the expected count of each piece over all paths through the words.
// `characters`: the number of characters of the text.
Expected expect(const Seeds& seeds, double characters, const Workers& workers);

// The pruning step: marks pieces for removal until `size` are left: those whose removal lowers the
// likelihood least.
std::vector<std::uint8_t> superfluous(const Seeds& seeds, std::size_t size, const Workers& workers);

}  // namespace toksmith::unigram

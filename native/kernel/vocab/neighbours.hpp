// The characters of a vocabulary, and those that stand side by side in some token.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "vocab/vocabulary.hpp"

namespace toksmith {

struct Neighbours {
    std::string characters;  // in ascending order
    std::string pairs;       // the two characters of each pair, one pair after the other
};

// Returns nothing if a token is invalid UTF-8.
std::optional<Neighbours> neighbours_of(const Vocabulary& vocabulary);

}  // namespace toksmith

// What a piece of a SentencePiece vocabulary is for; the numbers are those of its files.
#pragma once

#include <cstdint>

namespace toksmith {

enum class PieceType : std::uint8_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6
};

}  // namespace toksmith

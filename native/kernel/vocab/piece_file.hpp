// Reads the pieces of a SentencePiece model file, which is a protobuf message.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/vocabulary.hpp"

namespace toksmith {

struct PieceFile {
    Vocabulary pieces{{}, {0}};
    std::vector<double> scores;
    std::vector<std::uint8_t> types;  // PieceType
    std::string rest;                 // the other fields of the message, as they are in the file
};

// Returns nothing unless every piece is UTF-8 and not empty, its score finite and its type known.
std::optional<PieceFile> read_piece_file(std::string_view file);

}  // namespace toksmith

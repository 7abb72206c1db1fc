// The bytes of all tokens, and the types of SentencePiece's pieces.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_array.hpp"

namespace toksmith {

// The bytes of all tokens, concatenated in the order of ids.
struct Vocabulary {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> offsets;  // the start of each token, then the end of the last one

    std::size_t size() const { return offsets.size() - 1; }
    std::size_t length(Id id) const { return offsets[id + 1] - offsets[id]; }
    std::string_view operator[](Id id) const {
        return {reinterpret_cast<const char*>(bytes.data()) + offsets[id], length(id)};
    }
};

// The type of a piece in a SentencePiece vocabulary. The numbers are those of the file format.
enum class PieceType : std::uint8_t {
    kNormal = 1,
    kUnknown = 2,
    kControl = 3,
    kUserDefined = 4,
    kUnused = 5,
    kByte = 6
};

// The ids of the byte fallback tokens <0x00> to <0xFF>; 0xFFFFFFFF for a byte without one. If
// tokens are equal, the lowest id counts.
inline std::array<Id, 256> byte_ids(const Vocabulary& vocabulary) {
    std::array<Id, 256> ids;
    ids.fill(0xFFFFFFFFu);
    const auto digit = [](char c) {
        return c >= '0' && c <= '9' ? c - '0' : c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
    };
    for (std::size_t id = vocabulary.size(); id-- > 0;) {
        const std::string_view token = vocabulary[static_cast<Id>(id)];
        if (token.size() != 6 || !token.starts_with("<0x") || token[5] != '>') continue;
        const int high = digit(token[3]), low = digit(token[4]);
        if (high >= 0 && low >= 0)
            ids[static_cast<std::size_t>(high * 16 + low)] = static_cast<Id>(id);
    }
    return ids;
}

}  // namespace toksmith

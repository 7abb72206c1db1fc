// The tokens that stand for single bytes in vocabularies of text: <0x00> to <0xFF>.
#pragma once

#include <array>
#include <string_view>

#include "vocab/vocabulary.hpp"

namespace toksmith {

// Each byte's token, or 0xFFFFFFFF. Where several ids have the same spelling, the lowest counts.
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

// The bytes of every id, end to end.
#pragma once

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/id_array.hpp"

namespace toksmith {

struct Vocabulary {
    std::vector<std::uint8_t> bytes;
    std::vector<std::uint64_t> offsets;  // one entry more than there are ids

    std::size_t size() const { return offsets.size() - 1; }
    std::size_t length(Id id) const { return offsets[id + 1] - offsets[id]; }
    std::string_view operator[](Id id) const {
        return {reinterpret_cast<const char*>(bytes.data()) + offsets[id], length(id)};
    }
};

}  // namespace toksmith

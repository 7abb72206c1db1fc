// Splits the input of a fuzz target into random numbers and a text.
#pragma once

#include <cstring>

#include "kit.hpp"

namespace toksmith::test {

struct FuzzInput {
    Random random{0};
    Bytes text;

    FuzzInput(const std::uint8_t* data, std::size_t size) {
        const std::size_t header = std::min<std::size_t>(size, 4);
        if (header) std::memcpy(&random.state, data, header);
        text.assign(data + header, data + size);
    }
};

}  // namespace toksmith::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

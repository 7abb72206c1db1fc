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

// A file with a few changed bytes, sometimes cut off.
inline std::string damaged(std::string file, Random& random) {
    for (std::size_t i = random.below(4); i > 0 && !file.empty(); --i)
        file[random.below(file.size())] = static_cast<char>(random.next());
    if (random.below(4) == 0) file.resize(random.below(file.size() + 1));
    return file;
}

}  // namespace toksmith::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

// Splits the input of a fuzz target into random numbers and a text.
#pragma once

#include <cstring>

#include "kit.hpp"

namespace toksmith::test {

struct FuzzInput {
    Random random{0};
    Bytes text;

    // Random numbers start with single bytes of the input, so that a fuzzer that changes one byte
    // changes one decision.
    static constexpr std::size_t kSeed = 4, kHeader = 32;

    // `longest`: the rest of a longer text is dropped.
    FuzzInput(const std::uint8_t* data, std::size_t size, std::size_t longest = 1000) {
        const std::size_t seed = std::min(size, kSeed), header = std::min(size, kHeader);
        if (seed) std::memcpy(&random.state, data, seed);
        random.given = {data + seed, data + header};
        text.assign(data + header, data + std::min(size, header + longest));
    }
};

// The number of threads to use. Starting them takes longer than all else a target does with an
// input, so that few inputs do.
inline std::size_t some_threads(Random& random) {
    return random.below(16) ? 1 : 2 + random.below(2);
}

// The scalar instruction set, and one of the others.
inline std::vector<isa::Level> some_levels(Random& random) {
    const std::vector<isa::Level> all = levels();
    if (all.size() < 2) return all;
    return {all[0], all[1 + random.below(all.size() - 1)]};
}

// Characters with random scripts, some of them spaces or digits.
inline std::vector<bpe::PieceTraits> some_characters(Random& random, std::size_t number) {
    std::vector<bpe::PieceTraits> alphabet;
    for (std::size_t i = 0; i < number; ++i) {
        const auto script = static_cast<std::uint16_t>(random.below(4));
        const bool space = random.below(5) == 0;
        alphabet.push_back({.first = script,
                            .last = script,
                            .spaces = space,
                            .starts_with_space = space,
                            .ends_with_space = space,
                            .has_digit = random.below(5) == 0});
    }
    return alphabet;
}

// A file with a few changed bytes, sometimes cut off.
inline std::string damaged(std::string file, Random& random) {
    for (std::size_t i = random.below(4); i > 0 && !file.empty(); --i)
        file[random.below(file.size())] = static_cast<char>(random.next());
    if (random.below(4) == 0) file.resize(random.below(file.size() + 1));
    return file;
}

}  // namespace toksmith::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

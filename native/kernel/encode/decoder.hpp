// Ids to bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ids.hpp"

namespace toksmith {

class Decoder {
 public:
    // offsets: where each id's bytes start, and one more; an id without bytes is unknown.
    Decoder(std::vector<std::uint8_t> bytes, std::vector<std::uint64_t> offsets);

    static constexpr std::size_t kAllKnown = ~std::size_t{0};
    // The position of the first id that is not in the vocabulary, or kAllKnown.
    std::size_t first_unknown(const Id* ids, std::size_t count) const;

    // How many bytes the ids come to. The ids are known.
    std::size_t measure(const Id* ids, std::size_t count) const;

    // Writes the bytes of the ids to `out`, which has room for what measure() says.
    void decode(const Id* ids, std::size_t count, std::uint8_t* out, std::size_t threads) const;

 private:
    void decode_range(const Id* ids, std::size_t count, std::uint8_t* out, std::uint8_t* end) const;

    std::vector<std::uint8_t> bytes_;  // with some bytes to spare behind the last
    std::vector<std::uint64_t> offsets_;
};

}  // namespace toksmith

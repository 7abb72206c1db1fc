// Ids to bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "ids.hpp"

namespace toksmith {

class Decoder {
 public:
    // offsets: where each id's bytes start, and one more. known: whether each id has a token; if it
    // is empty, those have one that have bytes.
    Decoder(std::vector<std::uint8_t> bytes, std::vector<std::uint64_t> offsets,
            const std::vector<std::uint8_t>& known = {});

    static constexpr std::size_t kAllKnown = ~std::size_t{0};
    // The position of the first id that is not in the vocabulary, or kAllKnown.
    std::size_t first_unknown(const Id* ids, std::size_t count) const;

    // Ids in parts, one a thread; none at all where an id is not in the vocabulary.
    struct Parts {
        std::vector<std::size_t> firsts;  // the first id of each, and the number of ids
        std::vector<std::size_t> starts;  // where the bytes of each start, and their number
        bool some_empty = false;          // an id has no bytes
        bool known() const { return !starts.empty(); }
        std::size_t bytes() const { return starts.back(); }
    };
    Parts measure(const Id* ids, std::size_t count, std::size_t threads) const;

    // Writes the bytes of the ids to `out`, which has room for what was measured.
    void decode(const Id* ids, const Parts& parts, std::uint8_t* out) const;

 private:
    // Most tokens are short: copying so many bytes at once is cheaper than counting them.
    static constexpr std::size_t kStride = 16;
    static constexpr std::uint8_t kLong = kStride, kUnknown = kStride + 1;
    struct alignas(kStride) Entry {
        std::uint8_t bytes[kStride - 1];
        std::uint8_t size;  // or one of the above
    };

    // The place in the tables; all ids beyond the vocabulary have the last one, which is unknown.
    std::size_t place(Id id) const { return id < sizes_.size() ? id : sizes_.size() - 1; }
    struct Measure {
        std::size_t bytes = 0;
        bool known = true, some_empty = false;
    };
    Measure measure_range(const Id* ids, const Id* last) const;
    void decode_range(const Id* ids, const Id* last, std::uint8_t* out, std::uint8_t* end) const;

    std::vector<std::uint8_t> bytes_;
    std::vector<std::uint64_t> offsets_;
    std::vector<Entry> entries_;
    std::vector<std::uint8_t> sizes_;  // those of the entries, close together
};

}  // namespace toksmith

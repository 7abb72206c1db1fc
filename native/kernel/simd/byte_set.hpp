// A set of ASCII bytes, looked up for 64 bytes at once.
#pragma once

#include <cstddef>
#include <cstdint>

#include "simd/byte_classes.hpp"

namespace toksmith {

class ByteSet {
 public:
    ByteSet() = default;  // the empty set
    template <typename Has>
    explicit ByteSet(const Has& has) {
        for (unsigned byte = 0; byte < 0x80; ++byte) {
            if (!has(byte)) continue;
            empty_ = false;
            for (std::size_t i = byte % 16; i < low_.size(); i += 16)
                low_[i] = static_cast<std::uint8_t>(low_[i] | 1 << byte / 16);
        }
    }

    bool empty() const { return empty_; }
    bool has(std::uint8_t byte) const { return low_[byte % 16] >> byte / 16 & 1; }

    // One bit for each of the 64 bytes at p: whether it is in the set.
    template <typename Isa>
    [[gnu::always_inline]] std::uint64_t among(const std::uint8_t* p) const {
        if constexpr (requires { Isa::in_classes(p, low_, kHigh); }) {
            return Isa::in_classes(p, low_, kHigh);
        } else {
            alignas(64) std::uint8_t flags[64];
            for (unsigned i = 0; i < 64; ++i) flags[i] = has(p[i]);
            return Isa::template bit<0>(flags);
        }
    }

 private:
    // One bit for each high half of an ASCII byte. low_ has that bit, by low half, if the set has
    // the byte with both halves.
    alignas(64) static constexpr byte_classes::Halves kHigh =
        byte_classes::repeated({1, 2, 4, 8, 16, 32, 64, 128, 0, 0, 0, 0, 0, 0, 0, 0});
    alignas(64) byte_classes::Halves low_{};
    bool empty_ = true;
};

}  // namespace toksmith

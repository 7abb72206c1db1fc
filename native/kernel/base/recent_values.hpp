// Finds most repetitions in a sequence of values, so that fewer have to be sorted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "base/hash.hpp"

namespace toksmith {

class RecentValues {
 public:
    // Whether a value was added before; false for some that were. The value must not be ~0.
    bool add(std::uint64_t value) {
        std::uint64_t& place = places_[hash_word(value) % places_.size()];
        if (place == value) return true;
        place = value;
        return false;
    }

 private:
    static constexpr std::size_t kPlaces = std::size_t{1} << 12;

    std::vector<std::uint64_t> places_ = std::vector<std::uint64_t>(kPlaces, ~std::uint64_t{0});
};

}  // namespace toksmith

#include "vocab/adjacency_filter.hpp"

#include <algorithm>
#include <bit>
#include <string_view>
#include <unordered_set>

namespace toksmith {

AdjacencyFilter::AdjacencyFilter(const Vocabulary& vocabulary) {
    std::unordered_set<std::uint64_t> pairs;
    for (Id id = 0; id < vocabulary.size(); ++id) {
        const std::string_view token = vocabulary[id];
        const auto* begin = reinterpret_cast<const std::uint8_t*>(token.data());
        const auto* end = begin + token.size();
        for (const auto* right = begin + (begin < end); right < end; ++right) {
            if (*right < 0xC0) continue;  // not the first byte of a character beyond ASCII
            const auto* left = right - 1;
            if (*left < 0x80) continue;
            while (left > begin && utf8::is_continuation(*left)) --left;
            const utf8::Char before = utf8::decode(left, right), after = utf8::decode(right, end);
            const bool whole_left = before.code != utf8::kInvalid && left + before.size == right;
            if (whole_left && after.code != utf8::kInvalid) {
                pairs.insert(pair_of(before.code, after.code));
            } else {
                partial_[right[-1] % 64] |= std::uint64_t{1} << *right % 64;
            }
        }
    }
    mask_ = std::bit_ceil(pairs.size() * 16 + 64) - 1;
    filter_.resize((mask_ + 1) / 64);
    for (const std::uint64_t pair : pairs) {
        const std::size_t place = place_of(pair);
        filter_[place / 64] |= std::uint64_t{1} << place % 64;
    }
}

}  // namespace toksmith

#include "unigram/row_paths.hpp"

#include <algorithm>
#include <cmath>

namespace toksmith::unigram {

RowPaths::RowPaths(const ByteTrie& trie, const std::vector<float>& scores, RowTexts texts,
                   Costs costs)
    : trie_(trie), costs_(costs), texts_(texts), places_(scores.size()) {
    auto furthest = static_cast<float>(std::abs(costs.unknown));
    for (std::size_t place = 0; place < scores.size(); ++place) {
        const auto score = std::bit_cast<std::uint32_t>(scores[place]);
        places_.data()[place] = std::uint64_t{score} << 32 | trie.at(place);
        if (trie.has_token(place)) furthest = std::max(furthest, std::abs(scores[place]));
    }
    most_a_byte_ = furthest + 2 * static_cast<float>(kRounding);
    for (RowTexts::First& first : texts_.first) {
        if (trie.find(first.bytes.data(), first.size) == ByteTrie::kNone) first.size = 0;
    }
    for (std::uint8_t& later : texts_.later) {
        if (trie.find(&later, 1) == ByteTrie::kNone) later = 0;
    }
}

}  // namespace toksmith::unigram

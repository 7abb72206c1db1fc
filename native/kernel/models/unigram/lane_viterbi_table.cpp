#include "models/unigram/lane_viterbi_table.hpp"

#include <algorithm>
#include <cmath>

namespace toksmith::unigram {

LaneViterbiTable::LaneViterbiTable(const ByteTrie& trie, const std::vector<float>& scores,
                                   const LaneTexts& texts, Costs costs)
    : trie_(trie), costs_(costs), collapse_(texts.collapse), places_(scores.size()) {
    auto furthest = static_cast<float>(std::abs(costs.unknown));
    for (std::size_t place = 0; place < scores.size(); ++place) {
        const auto score = std::bit_cast<std::uint32_t>(scores[place]);
        places_.data()[place] = std::uint64_t{score} << 32 | trie.at(place);
        if (trie.has_token(place)) furthest = std::max(furthest, std::abs(scores[place]));
    }
    most_a_byte_ = furthest + 2 * static_cast<float>(kRounding);
    for (std::size_t byte = 0; byte < first_.size(); ++byte) {
        const LaneTexts::First& first = texts.first[byte];
        first_[byte] = character(first.bytes.data(), first.size);
        later_[byte] = character(&texts.later[byte], texts.later[byte] != 0);
    }
}

LaneViterbiTable::Character LaneViterbiTable::character(const std::uint8_t* bytes,
                                                        std::size_t size) const {
    ByteTrie::Node node = trie_.root();
    std::size_t place = 0;
    for (std::size_t i = 0; i < size; ++i) {
        if (!trie_.step(node, bytes[i], place)) return {};
    }
    if (size == 0 || !ByteTrie::ends_token(node)) return {};
    return {static_cast<std::uint32_t>(place), node, std::bit_cast<std::uint32_t>(score(place)),
            bytes[0]};
}

}  // namespace toksmith::unigram

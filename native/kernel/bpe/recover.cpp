#include <algorithm>
#include <numeric>

#include "bpe/model.hpp"

namespace toksmith::bpe {

std::vector<MergeRule> recover_merges(const Vocabulary& vocabulary) {
    const std::array<Id, 256> byte_ids = single_bytes(vocabulary);
    PairTable pairs(vocabulary.size());
    std::vector<MergeRule> merges;
    merges.reserve(vocabulary.size());
    Ids parts;
    // From short to long: when a token's turn comes, the table holds the merges of all tokens that
    // can stand inside it, whatever their rank, and ranks are ids.
    std::vector<Id> by_length(vocabulary.size());
    std::iota(by_length.begin(), by_length.end(), Id{0});
    std::ranges::stable_sort(by_length, {}, [&](Id id) { return vocabulary.length(id); });
    for (const Id id : by_length) {
        const std::string_view token = vocabulary[id];
        if (token.size() < 2) continue;
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(token.data());
        parts.clear();
        if (token.size() <= kShort) {
            merge_short(bytes, token.size(), byte_ids, pairs, nullptr, parts);
        } else {
            merge_long(bytes, token.size(), byte_ids, pairs, vocabulary, parts);
        }
        if (parts.size() != 2) continue;
        const Id left = parts.data()[0], right = parts.data()[1];
        pairs.insert(left, right, {id, id});
        merges.push_back({left, right, id});
    }
    std::ranges::sort(merges, {}, &MergeRule::id);
    return merges;
}

}  // namespace toksmith::bpe

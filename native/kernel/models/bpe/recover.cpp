#include <algorithm>

#include "models/bpe/model.hpp"

namespace toksmith::bpe {
namespace {

// The ids that have bytes, from short tokens to long ones.
std::vector<Id> by_length(const Vocabulary& vocabulary) {
    std::size_t longest = 0;
    for (Id id = 0; id < vocabulary.size(); ++id)
        longest = std::max(longest, vocabulary.length(id));
    std::vector<std::size_t> starts(longest + 2);  // of each length, and of the one behind it
    for (Id id = 0; id < vocabulary.size(); ++id) ++starts[vocabulary.length(id) + 1];
    for (std::size_t length = 0; length <= longest; ++length) starts[length + 1] += starts[length];
    std::vector<Id> ids(vocabulary.size());
    for (Id id = 0; id < vocabulary.size(); ++id) ids[starts[vocabulary.length(id)]++] = id;
    return ids;
}

}  // namespace

std::vector<MergeRule> recover_merges(const Vocabulary& vocabulary) {
    const std::array<Id, 256> byte_ids = single_bytes(vocabulary);
    PairTable pairs(vocabulary.size());
    std::vector<Merge> byte_pairs(256 * 256, Merge{kNoRank, 0});
    std::vector<MergeRule> found(vocabulary.size(), MergeRule{0, 0, kNoRank});
    const ByteMerges merging{byte_ids, pairs, byte_pairs.data(), vocabulary};
    IdArray parts;
    // From short to long: when a token's turn comes, the table holds the merges of all tokens that
    // can stand inside it, whatever their rank, and ranks are ids.
    for (const Id id : by_length(vocabulary)) {
        const std::string_view token = vocabulary[id];
        if (token.size() < 2) continue;
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(token.data());
        parts.clear();
        merge_bytes(merging, bytes, token.size(), parts);
        if (parts.size() != 2) continue;
        const Id left = parts.data()[0], right = parts.data()[1];
        pairs.insert(left, right, {id, id});
        if (token.size() == 2) byte_pairs[bytes[0] * 256 + bytes[1]] = {id, id};
        found[id] = {left, right, id};
    }
    std::erase_if(found, [](const MergeRule& merge) { return merge.id == kNoRank; });
    return found;
}

}  // namespace toksmith::bpe

#include "models/bpe/model.hpp"

#include <algorithm>
#include <stdexcept>
#include <string>

#include "vocab/token_index.hpp"

namespace toksmith::bpe {

std::array<Id, 256> single_bytes(const Vocabulary& vocabulary) {
    std::array<Id, 256> ids;
    ids.fill(kNoRank);
    for (std::size_t id = vocabulary.size(); id-- > 0;) {
        const std::string_view token = vocabulary[static_cast<Id>(id)];
        if (token.size() == 1) ids[static_cast<std::uint8_t>(token[0])] = static_cast<Id>(id);
    }
    for (const Id id : ids) {
        if (id == kNoRank) throw std::invalid_argument("a single byte has no id");
    }
    return ids;
}

BpeModel::BpeModel(Vocabulary vocabulary, const std::vector<MergeRule>& merges,
                   bool whole_chunk_first, MergeSource source)
    : vocabulary_(std::move(vocabulary)),
      adjacency_filter_(vocabulary_),
      byte_ids_(single_bytes(vocabulary_)),
      pairs_(merges.size()) {
    // merge_long_bytes() uses the highest bit as a marker.
    if (vocabulary_.size() >= 0x80000000u) throw std::invalid_argument("ids must be below 2^31");
    std::uint32_t rank = 0;
    for (const MergeRule& merge : merges) {
        const std::size_t ids = vocabulary_.size();
        if (merge.left >= ids || merge.right >= ids || merge.id >= ids ||
            vocabulary_.length(merge.left) == 0 || vocabulary_.length(merge.right) == 0 ||
            vocabulary_.length(merge.left) + vocabulary_.length(merge.right) !=
                vocabulary_.length(merge.id)) {
            throw std::invalid_argument("merge " + std::to_string(rank) +
                                        " does not fit the vocabulary");
        }
        pairs_.insert(merge.left, merge.right, {rank++, merge.id});
    }
    byte_pairs_.reserve(256 * 256);
    for (const Id left : byte_ids_) {
        for (const Id right : byte_ids_) byte_pairs_.push_back(pairs_.find(left, right));
    }
    lane_merges_ = lane_merges_of(merges);
    if (!whole_chunk_first) return;
    whole_ = WholeTokens(vocabulary_, unmade(merges, source));
    adjacency_filter_.keep_whole(whole_);
}

std::optional<LaneMergeTable> BpeModel::lane_merges_of(const std::vector<MergeRule>& merges) const {
    std::vector<LaneMergeRule> rules;
    rules.reserve(merges.size());
    for (const MergeRule& merge : merges) {
        rules.push_back({merge.left, merge.right, merge.id, static_cast<Id>(rules.size())});
    }
    return LaneMergeTable::make(std::move(rules), byte_ids_);
}

std::vector<Id> BpeModel::unmade(const std::vector<MergeRule>& merges, MergeSource source) const {
    std::vector<bool> has_merge(vocabulary_.size());
    for (const MergeRule& merge : merges) has_merge[merge.id] = true;
    std::vector<Id> found;
    IdArray ids;
    for (Id id = 0; id < vocabulary_.size(); ++id) {
        const std::string_view token = vocabulary_[id];
        if (token.size() < 2) continue;
        if (has_merge[id]) {
            if (source == MergeSource::kRecovered) continue;  // they were found by merging it
            ids.clear();
            merge_bytes(merging(), reinterpret_cast<const std::uint8_t*>(token.data()),
                        token.size(), ids);
            if (ids.size() == 1 && ids.data()[0] == id) continue;
        }
        found.push_back(id);
    }
    if (found.empty()) return found;
    const TokenIndex index(vocabulary_);
    std::erase_if(found, [&](Id id) {
        const std::string_view token = vocabulary_[id];
        return index.find(vocabulary_, reinterpret_cast<const std::uint8_t*>(token.data()),
                          token.size()) != id;
    });
    return found;
}

std::unique_ptr<Model::Scratch> BpeModel::scratch() const { return std::make_unique<Scratch>(); }

void BpeModel::encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch&, IdArray& out,
                            IdArray* spans) const {
    const std::size_t before = out.size();
    const Id whole = size == 0 ? WholeTokens::kNone : whole_.find(chunk, size);
    if (whole != WholeTokens::kNone) {
        out.push(whole);
    } else {
        merge_bytes(merging(), chunk, size, out);
    }
    if (!spans) return;
    std::uint32_t start = 0;
    for (std::size_t i = before; i < out.size(); ++i) {
        const auto end = start + static_cast<std::uint32_t>(vocabulary_.length(out.data()[i]));
        spans->push(start);
        spans->push(end);
        start = end;
    }
}

}  // namespace toksmith::bpe

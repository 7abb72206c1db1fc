// Byte-level BPE.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "models/bpe/lane_merge_table.hpp"
#include "models/bpe/pair_table.hpp"
#include "models/model.hpp"
#include "vocab/adjacency_filter.hpp"
#include "vocab/vocabulary.hpp"
#include "vocab/whole_tokens.hpp"

namespace toksmith::bpe {

struct MergeRule {
    Id left, right, id;
};

// The data of a model that merge_bytes() uses.
struct ByteMerges {
    const std::array<Id, 256>& byte_ids;
    const PairTable& pairs;
    // The merge of each pair of bytes, at 256 * first + second, or null. Half of all look-ups are
    // pairs of bytes.
    const Merge* byte_pairs;
    const Vocabulary& vocabulary;
};

// Whether the merges are given (by a file), or were recovered by recover_merges().
enum class MergeSource { kGiven, kRecovered };

// The constructor throws std::invalid_argument if the merges or the byte tokens do not fit the
// vocabulary.
class BpeModel final : public Model {
 public:
    BpeModel(Vocabulary vocabulary, const std::vector<MergeRule>& merges, bool whole_chunk_first,
             MergeSource source = MergeSource::kGiven);

    std::unique_ptr<Scratch> scratch() const override;
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, IdArray& out,
                      IdArray* spans) const override;
    const Vocabulary* consecutive_tokens() const override { return &vocabulary_; }
    const AdjacencyFilter* adjacency_filter() const override { return &adjacency_filter_; }
    const LaneMergeTable* lane_merges() const override {
        return lane_merges_ ? &*lane_merges_ : nullptr;
    }
    const WholeTokens* whole_tokens() const override { return whole_.empty() ? nullptr : &whole_; }

 private:
    std::optional<LaneMergeTable> lane_merges_of(const std::vector<MergeRule>& merges) const;
    // The tokens that the merges do not make from their bytes. Of equal tokens, the first counts.
    std::vector<Id> unmade(const std::vector<MergeRule>& merges, MergeSource source) const;
    ByteMerges merging() const { return {byte_ids_, pairs_, byte_pairs_.data(), vocabulary_}; }

    Vocabulary vocabulary_;
    AdjacencyFilter adjacency_filter_;
    std::array<Id, 256> byte_ids_;
    PairTable pairs_;
    std::vector<Merge> byte_pairs_;
    std::optional<LaneMergeTable> lane_merges_;
    WholeTokens whole_;  // empty unless a whole chunk is looked up first
};

// Append the ids of a chunk. merge_bytes() calls the variant for its size.
void merge_bytes(const ByteMerges& by, const std::uint8_t* chunk, std::size_t size, IdArray& out);
void merge_short_bytes(const ByteMerges& by, const std::uint8_t* chunk, std::size_t size,
                       IdArray& out);
void merge_long_bytes(const ByteMerges& by, const std::uint8_t* chunk, std::size_t size,
                      IdArray& out);

// The id of each byte token. Throws std::invalid_argument if one is missing.
std::array<Id, 256> single_bytes(const Vocabulary& vocabulary);

}  // namespace toksmith::bpe

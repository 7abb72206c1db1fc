// Merging symbols that are not bytes: characters, or whatever a model of text starts from.
#pragma once

#include <cstdint>
#include <vector>

#include "base/id_array.hpp"
#include "models/bpe/merging.hpp"
#include "models/bpe/pair_table.hpp"

namespace toksmith::bpe {

struct SymbolRule {
    Id left, right;
    Merge merge;
};

// A table of the rules and of what is open by them. Merging can reach across two symbols x and y
// only by a rule whose left side ends with x and whose right side starts with y.
class SymbolPairs {
 public:
    // `starts`: the symbols that a chunk can start as; no other id can come before a merge. Where
    // a pair has several rules, the last one counts.
    SymbolPairs(std::vector<SymbolRule> rules, const std::vector<Id>& starts, std::size_t ids);

    const PairTable& table() const { return table_; }
    // Of two symbols that a chunk starts as.
    Merge find(Id left, Id right) const { return table_.find(left, right); }
    bool never_merges(const Merge& merge) const { return merge.rank == kNoRank && !all_open_; }

 private:
    struct Plan;
    explicit SymbolPairs(const Plan& plan);

    PairTable table_;
    bool all_open_;  // what is open could not be found out: nothing is closed
};

// A stretch of symbols that merge among each other. After merging with places, ids[i] stands for
// the symbols first[i] to first[i + 1] that were there before.
struct SymbolRun {
    std::vector<Id> ids;
    std::vector<Merge> merges;  // merges[i]: of ids[i] and ids[i + 1]
    std::vector<std::uint32_t> first;

    void clear() {
        ids.clear();
        merges.clear();
    }
    // Frees the memory if it is larger than `bytes`.
    void trim(std::size_t bytes) {
        if (merges.capacity() * sizeof(Merge) > bytes) *this = {};
    }

    void merge(const PairTable& pairs, bool places);
};

}  // namespace toksmith::bpe

// Merges of symbols that are not bytes: characters, or pieces of them.
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

// The merges of symbols, and the pairs that a merge can reach across: x and y if the left side of
// some merge ends with x and its right side starts with y.
class SymbolPairs {
 public:
    // `starts`: the symbols of a chunk before any merge; `ids`: the number of all symbols. If a
    // pair has several rules, the last one counts.
    SymbolPairs(std::vector<SymbolRule> rules, const std::vector<Id>& starts, std::size_t ids);

    const PairTable& table() const { return table_; }
    // The merge of two initial symbols; its rank may be kMayReachAcross.
    Merge find(Id left, Id right) const { return table_.find(left, right); }
    bool never_merges(const Merge& merge) const { return merge.rank == kNoRank && !all_open_; }

 private:
    struct Plan;
    explicit SymbolPairs(const Plan& plan);

    PairTable table_;
    bool all_open_;  // there were too many such pairs: a merge may reach across any pair
};

// A run of symbols that merge only with each other. After merge() with `places`, ids[i] covers the
// initial symbols from first[i] to before first[i + 1].
struct SymbolRun {
    std::vector<Id> ids;
    std::vector<Merge> merges;  // merges[i]: the merge of ids[i] and ids[i + 1]
    std::vector<std::uint32_t> first;

    void clear() {
        ids.clear();
        merges.clear();
    }
    // Frees the memory if it is more than `bytes`.
    void trim(std::size_t bytes) {
        if (merges.capacity() * sizeof(Merge) > bytes) *this = {};
    }

    void merge(const PairTable& pairs, bool places);
};

}  // namespace toksmith::bpe

// Tables for merging many short chunks in vector lanes (merge_lanes.inc). Symbols are renumbered by
// merge rank, so that the best pair of a lane is the pair with the smallest result: one `min`
// instead of a look-up of ranks.
//
// A merge without a unique rank (most ties; two merges with the same result) stops its lane with
// `kStop`. The scalar merge_short() then merges its chunk.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <vector>

#include "base/id_array.hpp"
#include "models/bpe/perfect_pair_hash.hpp"

namespace toksmith::bpe {

struct LaneMergeRule {
    Id left, right, id;
    std::uint32_t rank;
    bool plain = true;      // `id` is a token, not an unused piece
    bool in_order = false;  // its rank is unique; set by LaneMergeTable
};

class LaneMergeTable {
 public:
    static constexpr Id kNone = PerfectPairHash::kNone;
    // The result of a pair whose merge stops the lane.
    static constexpr std::uint32_t kStop = 0;

    // `symbols`: the symbol of each byte; kNone: a chunk with this byte stops its lane. Returns
    // nothing if there are too many symbols, or PerfectPairHash cannot store the pairs.
    static std::optional<LaneMergeTable> make(std::vector<LaneMergeRule> rules,
                                              const std::array<Id, 256>& symbols);

    // Whether every byte has a symbol; otherwise only chunks of ASCII are merged in lanes.
    bool all_bytes() const { return all_bytes_; }
    // bytes(): the number of each byte, or kNone. byte_pairs(): the result of each pair of bytes at
    // 256 * first + second, or kNone if they do not merge.
    const std::uint32_t* bytes() const { return bytes_.data(); }
    const std::uint32_t* byte_pairs() const { return byte_pairs_.data(); }
    // The id of each number. Up to number in_order(), the id is the number plus distance(), and no
    // memory is read: most vocabularies are in the order of their merges.
    const Id* ids() const { return ids_.data(); }
    std::uint32_t in_order() const { return in_order_; }
    std::uint32_t distance() const { return distance_; }

    // The results of all pairs that merge.
    const PerfectPairHash& pairs() const { return *pairs_; }

 private:
    LaneMergeTable(const std::vector<LaneMergeRule>& rules, const std::array<Id, 256>& symbols);

    bool all_bytes_ = true;
    std::array<std::uint32_t, 256> bytes_;
    std::vector<std::uint32_t> byte_pairs_;
    std::vector<Id> ids_;
    std::uint32_t in_order_ = 0, distance_ = 0;
    std::optional<PerfectPairHash> pairs_;  // always set once make() has returned the table
};

}  // namespace toksmith::bpe

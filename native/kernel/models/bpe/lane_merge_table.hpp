// Tables for merging many short chunks in vector lanes (merge_lanes.inc). Symbols are renumbered by
// merge rank, so that the best pair of a lane is simply the pair that yields the smallest number:
// one `min` instead of a look-up of ranks.
//
// Merges without a unique rank (most ties; two merges with the same result) stop the lane with
// `kStop`, and its chunk is merged by the scalar merge_short().
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
    bool plain = true;      // whether `id` is a token, and not an unused piece
    bool in_order = false;  // whether its rank is unique; set by LaneMergeTable
};

class LaneMergeTable {
 public:
    static constexpr Id kNone = PerfectPairHash::kNone;
    // The result of a pair that stops its lane.
    static constexpr std::uint32_t kStop = 0;

    // `symbols`: the symbol of each byte; kNone: a chunk with that byte stops its lane. Returns
    // nothing if there are too many numbers, or PerfectPairHash cannot hold the pairs.
    static std::optional<LaneMergeTable> make(std::vector<LaneMergeRule> rules,
                                              const std::array<Id, 256>& symbols);

    // Whether every byte has a symbol, and not only bytes of ASCII.
    bool all_bytes() const { return all_bytes_; }
    // The number of each byte, or kNone; and the result of each pair of bytes, at 256 * first +
    // second, kNone if they do not merge.
    const std::uint32_t* bytes() const { return bytes_.data(); }
    const std::uint32_t* byte_pairs() const { return byte_pairs_.data(); }
    // Ids by number. Up to `in_order`, an id is its number plus `distance`, so that no memory is
    // read: most vocabularies are in the order of their merges.
    const Id* ids() const { return ids_.data(); }
    std::uint32_t in_order() const { return in_order_; }
    std::uint32_t distance() const { return distance_; }

    // The results of all pairs.
    const PerfectPairHash& pairs() const { return *pairs_; }

 private:
    LaneMergeTable(const std::vector<LaneMergeRule>& rules, const std::array<Id, 256>& symbols);

    bool all_bytes_ = true;
    std::array<std::uint32_t, 256> bytes_;
    std::vector<std::uint32_t> byte_pairs_;
    std::vector<Id> ids_;
    std::uint32_t in_order_ = 0, distance_ = 0;
    std::optional<PerfectPairHash> pairs_;  // empty only until make() returns nothing
};

}  // namespace toksmith::bpe

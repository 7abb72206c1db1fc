// What merging chunks side by side needs of a model's merges (see merge_rows.inc): symbols are
// numbered anew, in the order in which merges make them, so that the pair to merge next is the one
// that makes the lowest number.
//
// Merges that do not fit into one order stop a row, and are for merge_short: most of equal rank,
// and those that make what another one makes too.
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
    bool plain = true;  // whether `id` is a token as it stands
    bool in_order =
        false;  // whether it has a place of its own among all: for LaneMergeTable to tell
};

class LaneMergeTable {
 public:
    static constexpr Id kNone = PerfectPairHash::kNone;
    // A pair that stops its row.
    static constexpr std::uint32_t kStop = 0;

    // `symbols`: of each byte; kNone: chunks that hold it stop their row. Nothing where there
    // are too many numbers, or PerfectPairHash cannot hold their pairs.
    static std::optional<LaneMergeTable> make(std::vector<LaneMergeRule> rules,
                                              const std::array<Id, 256>& symbols);

    // Whether it has a symbol for each byte, and not only for some of ASCII.
    bool all_bytes() const { return all_bytes_; }
    // The numbers of bytes; kNone: as above. And of what each two bytes become, by the first one
    // times 256 and the second; kNone: they do not merge.
    const std::uint32_t* bytes() const { return bytes_.data(); }
    const std::uint32_t* byte_pairs() const { return byte_pairs_.data(); }
    // Ids by number. Up to `in_order`, they are numbers but for `distance`, so that memory is
    // seldom asked: those of most vocabularies are in the order of merges.
    const Id* ids() const { return ids_.data(); }
    std::uint32_t in_order() const { return in_order_; }
    std::uint32_t distance() const { return distance_; }

    // What any pairs become.
    const PerfectPairHash& pairs() const { return *pairs_; }

 private:
    LaneMergeTable(const std::vector<LaneMergeRule>& rules, const std::array<Id, 256>& symbols);

    bool all_bytes_ = true;
    std::array<std::uint32_t, 256> bytes_;
    std::vector<std::uint32_t> byte_pairs_;
    std::vector<Id> ids_;
    std::uint32_t in_order_ = 0, distance_ = 0;
    std::optional<PerfectPairHash> pairs_;  // there is none only before make() returns nothing
};

}  // namespace toksmith::bpe

#include "kit.hpp"
#include "models/bpe/perfect_pair_hash.hpp"

namespace toksmith::test {
namespace {

using bpe::PerfectPairHash;
using Key = std::pair<std::uint32_t, std::uint32_t>;

constexpr std::uint32_t kNumbers = 1u << PerfectPairHash::kBits;

TEST(row_pairs_are_found_and_no_others) {
    Random random{51};
    for (const std::uint32_t count : {0u, 1u, 2u, 30u, 500u, 20'000u}) {
        // As in vocabularies: few left numbers, each with adjacent right numbers.
        const std::uint32_t lefts = 1 + count / 20;
        std::map<Key, std::uint32_t> expected;
        while (expected.size() < count) {
            const auto left = static_cast<std::uint32_t>(1 + random.below(lefts));
            const auto right = static_cast<std::uint32_t>(1 + random.below(100));
            expected[{left, right}] = static_cast<std::uint32_t>(random.below(kNumbers));
        }
        std::vector<PerfectPairHash::Pair> pairs;
        for (const auto& [key, number] : expected) pairs.push_back({key.first, key.second, number});
        const auto table = PerfectPairHash::make(pairs);
        CHECK(table.has_value());
        for (std::uint32_t left = 1; left <= lefts + 1; ++left) {
            for (std::uint32_t right = 1; right <= 101; ++right) {
                const auto at = expected.find({left, right});
                CHECK(table->find(left, right) ==
                      (at == expected.end() ? PerfectPairHash::kNone : at->second));
            }
        }
        CHECK(table->find(kNumbers - 1, kNumbers - 1) == PerfectPairHash::kNone);
    }
}

TEST(of_duplicate_pairs_the_first_counts) {
    const PerfectPairHash::Pair pairs[] = {{3, 4, 5}, {1, 2, 3}, {3, 4, 6}, {3, 4, 5}};
    const auto table = PerfectPairHash::make(pairs);
    CHECK(table && table->find(3, 4) == 5 && table->find(1, 2) == 3);
}

// Pairs of one bucket, otherwise in random order. A few of them find free slots; more than
// kMostTogether are not tried, since the search would take too long.
TEST(pairs_of_one_bucket) {
    Random random{52};
    std::vector<PerfectPairHash::Pair> pairs;
    while (pairs.size() < 800) {
        const auto left = static_cast<std::uint32_t>(1 + random.below(kNumbers - 1));
        const auto right = static_cast<std::uint32_t>(1 + random.below(kNumbers - 1));
        if ((left * PerfectPairHash::kLeft + right * PerfectPairHash::kRight) >> 22 == 0)
            pairs.push_back({left, right, left});
    }
    const auto few = PerfectPairHash::make(std::span(pairs).first(5));
    CHECK(few.has_value());
    for (std::size_t i = 0; i < pairs.size(); ++i) {
        const auto& [left, right, number] = pairs[i];
        CHECK(few->find(left, right) == (i < 5 ? number : PerfectPairHash::kNone));
    }
    CHECK(!PerfectPairHash::make(std::span(pairs).first(64)));
    CHECK(!PerfectPairHash::make(pairs));
}

}  // namespace
}  // namespace toksmith::test

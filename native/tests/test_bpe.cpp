// Merging of short and long chunks; BPE models; recovering merges.
#include <set>

#include "base/hash.hpp"
#include "kit.hpp"
#include "models/bpe/ranks.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

std::vector<Id> encode_chunk(const Model& model, const Bytes& chunk) {
    IdArray ids;
    model.encode_chunk(chunk.data(), chunk.size(), *model.scratch(), ids, nullptr);
    return list(ids);
}

Merges merges_of(std::vector<std::string> tokens, std::vector<bpe::MergeRule> rules) {
    Merges merges;
    merges.tokens.insert(merges.tokens.end(), tokens.begin(), tokens.end());
    merges.rules = std::move(rules);
    return merges;
}

}  // namespace

TEST(merge_literals) {
    const Merges merges =
        merges_of({"aa", "ab", "aab"}, {{'a', 'a', 256}, {'a', 'b', 257}, {256, 'b', 258}});
    const Merger merged(merges);
    using List = std::vector<Id>;
    const Bytes run = bytes_of("aaa"), text = bytes_of("aaabaab"), one = bytes_of("x");
    CHECK(merged(text_of(run)) == List({256, 'a'}));
    CHECK(merged(text_of(text)) == List({256, 257, 258}));
    CHECK(merged(text_of(one)) == List({'x'}));
}

TEST(merge_short_and_long_are_one) {
    Random random{2};
    for (int round = 0; round < 200; ++round) {
        Bytes text = round % 2 ? random_text(random, 30) : Bytes(300);
        if (round % 2 == 0) std::ranges::generate(text, [&] { return 'a' + random.below(3); });
        Merges merges = random_merges(random, text_of(text), 1 + random.below(80));
        if (round % 4 > 1) shuffle(random, merges.rules);
        const auto model = merges.model();
        const Merger merged(merges);
        for (const std::size_t limit : {2, 20, 96, 97, 300}) {
            const std::size_t size = 1 + random.below(std::min(limit, text.size()));
            const std::size_t start = random.below(text.size() - size + 1);
            const Bytes chunk(text.begin() + start, text.begin() + start + size);
            CHECK(encode_chunk(*model, chunk) == merged(text_of(chunk)));
        }
    }
}

TEST(model_whole_chunk_first) {
    const Merges merges = merges_of({"ab", "xyz", "ab"}, {{'a', 'b', 256}});
    const Bytes known = bytes_of("xyz"), longer = bytes_of("xyzw"), twice = bytes_of("ab");
    CHECK(encode_chunk(*merges.model(true), known) == std::vector<Id>({257}));
    CHECK(encode_chunk(*merges.model(true), longer).size() == 4);
    CHECK(encode_chunk(*merges.model(true), twice) == std::vector<Id>({256}));
    CHECK(encode_chunk(*merges.model(false), known).size() == 3);
}

TEST(model_rejects_invalid_merges) {
    const bpe::MergeRule bad[] = {
        {'a', 'b', 300}, {'a', 300, 256}, {300, 'b', 256}, {'a', 'b', 'c'}, {'a', 257, 256}};
    for (const bpe::MergeRule& rule : bad) {
        CHECK_THROWS(merges_of({"ab", ""}, {rule}).model(), std::invalid_argument);
    }
    Merges short_of_one;
    short_of_one.tokens.pop_back();
    CHECK_THROWS(short_of_one.model(), std::invalid_argument);
    CHECK_THROWS(bpe::recover_merges(vocabulary(short_of_one.tokens)), std::invalid_argument);
}

TEST(ranks_literals) {
    const auto found = bpe::read_ranks("YWI= 2\r\n\nYQ== 0\nYWJj 1", 2);
    CHECK(found && found->size() == 3);
    CHECK((*found)[0] == "a" && (*found)[1] == "abc" && (*found)[2] == "ab");
    const auto gap = bpe::read_ranks("YQ== 1\n", 9);
    CHECK(gap && gap->size() == 2 && gap->length(0) == 0);
    CHECK(bpe::read_ranks("", 9)->size() == 0);
    for (const char* bad : {"YQ== 10", "YQ==", "YQ== ", " 1", "YQ= 1", "Y=Q= 1", "==== 1",
                            "YQ=== 1", "YQ== 1 2", "YQ== +1", "YQ== 000000001", "YQ== 1\nYQ== 2",
                            "YQ== 1\nYg== 1", "YQ== 1\r\r", "YWJj= 1"}) {
        CHECK(!bpe::read_ranks(bad, 9));
    }
}

TEST(recover_literals) {
    // "abc" merges from "ab" and "c", although "bc" is a token, too. No pair makes "xyz".
    const Merges merges = merges_of({"ab", "bc", "xyz", "abc"}, {});
    const auto rules = bpe::recover_merges(vocabulary(merges.tokens));
    CHECK(same(rules, {{'a', 'b', 256}, {'b', 'c', 257}, {256, 'c', 259}}));
    // The rank of a token may be below the ranks of its parts.
    const Merges reversed = merges_of({"abc", "ab"}, {});
    CHECK(
        same(bpe::recover_merges(vocabulary(reversed.tokens)), {{257, 'c', 256}, {'a', 'b', 257}}));
    CHECK(bpe::recover_merges(vocabulary(byte_tokens())).empty());
}

TEST(recover_gives_the_merges_back) {
    Random random{3};
    for (int round = 0; round < 100; ++round) {
        Bytes text = round % 2 ? random_text(random, 40) : Bytes(400);
        if (round % 2 == 0) std::ranges::generate(text, [&] { return 'a' + random.below(2); });
        const Merges merges = random_merges(random, text_of(text), 1 + random.below(120));
        CHECK(same(bpe::recover_merges(vocabulary(merges.tokens)), merges.rules));
    }
}

TEST(empty_slots_match_no_pair) {
    Random random{12};
    for (int round = 0; round < 100; ++round) {
        bpe::PairTable table(3000);
        for (Id i = 0; i < 3000; ++i) {
            table.insert(static_cast<Id>(random.below(1u << 31)), i, {i, i});
        }
        CHECK(table.find(0xFFFFFFFFu, 0xFFFFFFFFu).rank == bpe::kNoRank);
    }
}

TEST(hashes_forget_nothing) {
    // In either word, a value that makes a factor of the product 0.
    std::set<std::uint64_t> first, second;
    for (std::uint64_t i = 0; i < 10'000; ++i) {
        first.insert(hash_words(i, kHashSeed.high));
        second.insert(hash_words(kHashSeed.low, i));
    }
    CHECK(first.size() == 10'000 && second.size() == 10'000);
}

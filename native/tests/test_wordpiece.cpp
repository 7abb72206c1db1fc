// WordPiece, word-level models, and the longest match.
#include "match_kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

std::vector<Id> matched(const std::vector<std::string>& tokens, const wordpiece::Options& options,
                        std::string_view text) {
    const wordpiece::LongestMatchModel model(vocabulary(tokens), options);
    const Bytes chunk = bytes_of(text);
    IdArray ids;
    model.encode_chunk(chunk.data(), chunk.size(), *model.scratch(), ids, nullptr);
    return list(ids);
}

}  // namespace

TEST(wordpiece_literals) {
    const std::vector<std::string> tokens{"[UNK]", "un", "##aff", "##able", "##a", "unaffab"};
    const wordpiece::Options options{.prefix = "##", .unk = 0, .whole_unknown = true};
    using List = std::vector<Id>;
    CHECK(matched(tokens, options, "unaff") == List({1, 2}));
    CHECK(matched(tokens, options, "unaffa") == List({1, 2, 4}));
    CHECK(matched(tokens, options, "unaffab") == List({5}));
    CHECK(matched(tokens, options, "unaffable") == List({0}));
    CHECK(matched(tokens, options, "aff") == List({0}));
    CHECK(matched(tokens, options, "").empty());
}

TEST(longest_match_literals) {
    const std::vector<std::string> tokens{"?", "a", "ab", "abc", "bcd"};
    using List = std::vector<Id>;
    CHECK(matched(tokens, {.unk = 0}, "abcdab") == List({3, 0, 2}));
    CHECK(matched(tokens, {.unk = 0}, "xxbcd") == List({0, 0, 4}));
    CHECK(matched(tokens, {.unk = 0, .fuse_unk = true}, "xxbcd?x") == List({0, 4, 0}));
    CHECK(matched(tokens, {}, "xxbcd?a") == List({4, 0, 1}));
}

TEST(bytes_that_are_in_no_character_lead_nowhere) {
    const std::vector<std::string> tokens{"?", "a", "##a", "##b"};
    using List = std::vector<Id>;
    for (const char byte : {'\xFE', '\xFF', '\0', '\xC3'}) {
        const std::string text{byte, 'a', byte, 'b'};
        CHECK(matched(tokens, {.prefix = "##", .unk = 0}, text) == List({0, 2, 0, 3}));
    }
}

TEST(matches_agree_with_trying_all_ends) {
    Random random{11};
    for (int round = 0; round < 3000; ++round) {
        Bytes text = random_text(random, 12);
        if (round % 2) {
            for (std::uint8_t& byte : text) byte = static_cast<std::uint8_t>('a' + byte % 2);
        }
        const wordpiece::Options options = random_options(random);
        check_match(random_tokens(random, text_of(text), options.prefix), options, text_of(text));
    }
}

TEST(longest_match_rejects_invalid_options) {
    const Vocabulary one = vocabulary({"a"});
    CHECK_THROWS(wordpiece::LongestMatchModel(one, {.unk = 1}), std::invalid_argument);
    CHECK_THROWS(wordpiece::LongestMatchModel(one, {.whole_unknown = true}), std::invalid_argument);
}

TEST(word_level_literals) {
    const Bytes known = bytes_of("the"), other = bytes_of("then");
    for (const Id unk : {Id{0}, wordpiece::kNone}) {
        const wordpiece::WordLevelModel model(vocabulary({"<unk>", "the"}), unk);
        IdArray ids, spans;
        model.encode_chunk(known.data(), known.size(), *model.scratch(), ids, &spans);
        model.encode_chunk(other.data(), other.size(), *model.scratch(), ids, &spans);
        using List = std::vector<Id>;
        CHECK(list(ids) == (unk ? List({1}) : List({1, 0})));
        CHECK(list(spans) == (unk ? List({0, 3}) : List({0, 3, 0, 4})));
    }
}

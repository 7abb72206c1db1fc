// The splitters of all instruction sets, and safe cuts.
#include "kit.hpp"
#include "split/splitter.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

std::string chunks(Family family, isa::Level level, std::string_view text) {
    const Bytes bytes = bytes_of(text);
    std::string joined;
    std::uint64_t start = 0;
    for (const std::uint64_t end : chunk_ends(family, level, text_of(bytes))) {
        if (start > 0) joined += '|';
        joined.append(text.substr(start, end - start));
        start = end;
    }
    return joined;
}

}  // namespace

TEST(split_literals) {
    const struct {
        Family family;
        std::string_view text, expected;
    } cases[] = {
        {Family::kNone, "any text\n at all", "any text\n at all"},
        {Family::kNone, "", ""},
        {Family::kGpt2, "Hello  world's 123!? é\n\n", "Hello| | world|'s| 123|!?| é|\n\n"},
        {Family::kGpt2, "I'LL we'll \n x", "I|'|LL| we|'ll| \n| x"},
        {Family::kCl100k, "Hello  world'S 12345!?\n\n x", "Hello| | world|'S| |123|45|!?\n\n| x"},
        {Family::kCl100k, "a\n  ", "a|\n|  "},
        {Family::kCl100kTiktoken, "a\n  ", "a|\n  "},
        {Family::kCl100kTiktoken, "a\n  b", "a|\n| | b"},
        {Family::kCl100k, "$it'\u017Fo", "$it|'\u017F|o"},
        {Family::kQwen2, "x 12\t3\r\n", "x| |1|2|\t|3|\r\n"},
        {Family::kO200k, "HelloWORLDs it's 1234//\n", "Hello|WORLDs| it's| |123|4|//\n"},
        {Family::kO200k, "中文ABC\u0301d e\xFF\xFFz", "中文ABC\u0301d| e|\xFF\xFF|z"},
        {Family::kO200k, "中文ABC 中文ABCd a中文ABCd", "中文|ABC| 中文ABCd| a中文|ABCd"},
        {Family::kO200k, "A中B中 ABC中D", "A中B中| ABC中|D"},
        {Family::kO200k, "it's中Abc it's中AB it'ſx", "it's|中Abc| it's|中|AB| it'ſ|x"},
        {Family::kO200k, "!!\u0301a !\u0301a x!\u0301a", "!!\u0301|a| !\u0301|a| x|!\u0301a"},
        {Family::kO200k, "x!\u0301!\u0301!!\u0301\n", "x|!\u0301|!\u0301|!!\u0301\n"},
    };
    for (const isa::Level level : levels()) {
        for (const auto& [family, text, expected] : cases) {
            const std::string found = chunks(family, level, text);
            CHECK(found == expected, std::string(isa::name(level)) + ": " + found);
        }
    }
}

TEST(split_word_of_every_length) {
    for (const isa::Level level : levels()) {
        for (std::size_t size = 1; size < 200; ++size) {
            const std::string word(size, size % 2 ? 'z' : 'A');
            for (const char* rest : {"", "@", "[", "`", "{", " ", "\xC1", "\xFA"}) {
                const std::string text = word + rest;
                const std::string expected = *rest ? word + "|" + rest : word;
                CHECK(chunks(Family::kGpt2, level, text) == expected, text);
            }
        }
    }
}

TEST(split_levels_agree_and_cuts_are_safe) {
    Random random{1};
    for (int round = 0; round < 1000; ++round) {
        const Bytes bytes = random_text(random, 1 + random.below(60));
        const Text text = text_of(bytes);
        for (int i = 0; i < kPatterns; ++i) {
            const auto family = static_cast<Family>(i);
            const auto ends = chunk_ends(family, isa::Level::kScalar, text);
            CHECK((ends.empty() ? 0 : ends.back()) == text.size());
            CHECK(std::ranges::adjacent_find(ends, std::greater_equal()) == ends.end());
            for (const isa::Level level : levels()) CHECK(chunk_ends(family, level, text) == ends);

            const std::size_t from = random.below(text.size() + 1);
            const std::uint8_t* cut = safe_cut(family, text.begin + from, text.end);
            CHECK(cut == text.end || cut > text.begin + from);
            auto parts = chunk_ends(family, isa::Level::kScalar, {text.begin, cut});
            for (const auto end : chunk_ends(family, isa::Level::kScalar, {cut, text.end})) {
                parts.push_back(end + static_cast<std::uint64_t>(cut - text.begin));
            }
            CHECK(parts == ends, std::string(bytes.begin(), bytes.end()));
        }
    }
}

TEST(split_levels_agree_on_invalid_utf8) {
    for (int first = 0x80; first <= 0xFF; ++first) {
        for (const char second : {'\x80', '\x8F', '\x90', '\x9F', '\xA0', '\xBF', '\xC3', 'a'}) {
            for (const std::string_view rest : {"\x80\x80", "\x80z", "z", "\x80\xC3", ""}) {
                std::string text = "é中 ";
                text.append({static_cast<char>(first), second}).append(rest).append("b é");
                const Bytes bytes = bytes_of(text);
                for (int i = 0; i < kPatterns; ++i) {
                    const auto family = static_cast<Family>(i);
                    const auto ends = chunk_ends(family, isa::Level::kScalar, text_of(bytes));
                    for (const isa::Level level : levels()) {
                        CHECK(chunk_ends(family, level, text_of(bytes)) == ends, text);
                    }
                }
            }
        }
    }
}

TEST(safe_cut_literals) {
    const struct {
        std::string_view text;
        std::size_t from, cut;
    } cases[] = {{"one two", 0, 3},     {"one two", 3, 7}, {"one's two", 0, 5},
                 {"a1 b.", 0, 4},       {"ab", 0, 2},      {"", 0, 0},
                 {"e\u0301 x y", 0, 5}, {"é ", 1, 3},      {"é b c", 1, 4}};
    for (const auto& [text, from, cut] : cases) {
        const Bytes bytes = bytes_of(text);
        const auto* begin = bytes.data();
        const auto* end = begin + bytes.size();
        CHECK(safe_cut(Family::kGpt2, begin + from, end) == begin + cut, std::string(text));
        CHECK(safe_cut(Family::kNone, begin + from, end) == end);
    }
}

// Splitting by tables: all instruction sets, several tables, damaged tables.
#include <algorithm>
#include <stdexcept>
#include <string>

#include "split_kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// Chunks are runs of "a", of spaces, and of all other characters, until a digit 1, where it gets
// lost.
SplitTable runs_up_to_a_one() {
    const std::uint32_t starts[] = {0, ' ', '!', '1', '2', 'a', 'b'};
    const std::uint8_t classes[] = {0, 2, 0, 3, 0, 1, 0};
    constexpr std::uint16_t kLostState = 4;
    std::vector<std::uint16_t> next;
    std::vector<SplitTable::Action> actions;
    for (std::uint16_t state = 0; state < kLostState; ++state) {
        for (std::uint16_t kind = 0; kind < 3; ++kind) {
            next.push_back(static_cast<std::uint16_t>(kind + 1));
            actions.push_back(state == 0 || state == kind + 1 ? 0 : kEndsHere);
        }
        next.push_back(kLostState);
        actions.push_back(0);
        actions.push_back(state == 0 ? 0 : kEndsHere);
    }
    next.insert(next.end(), 4, kLostState);
    actions.insert(actions.end(), 5, 0);
    return SplitTable(starts, classes, next, actions, {0b0110, 0b1101, 0b1011, 0b0110});
}

// Runs of characters, mostly of one of a few kinds.
Bytes runs(Random& random) {
    static constexpr std::string_view kCharacters[] = {
        "a",        "b",    " ",   " ", "\n", "\xC3\xA9", "\xE4\xB8\xAD", "\xF0\x9F\x98\x80",
        "\xE4\xB8", "\x80", "\xF5"};
    constexpr std::size_t kAll = std::size(kCharacters);
    const std::size_t first = random.below(kAll), kinds = 1 + random.below(kAll);
    const std::size_t longest = 1 + random.below(30);
    std::string text;
    while (text.size() < 300) {
        const std::string_view character = kCharacters[(first + random.below(kinds)) % kAll];
        for (std::size_t i = random.below(1 + random.below(longest)) + 1; i > 0; --i)
            text += character;
    }
    return bytes_of(text);
}

// A bound is where a run of one of the bytes starts or ends.
std::vector<std::uint64_t> ends_of_runs(std::string_view members, Text text) {
    std::vector<std::uint64_t> result;
    for (std::size_t i = 1; i <= text.size(); ++i) {
        bool ends = i == text.size();
        for (const char member : members) {
            const auto byte = static_cast<std::uint8_t>(member);
            if (!ends) ends = (text.begin[i - 1] == byte) != (text.begin[i] == byte);
        }
        if (ends) result.push_back(i);
    }
    return result;
}

}  // namespace

TEST(tables_split_one_after_the_other) {
    Random random{7};
    for (const std::string_view members : {"a", "a ", " na1\n"}) {
        std::vector<SplitTable> tables;
        for (const char member : members)
            tables.push_back(runs_of(static_cast<std::uint8_t>(member)));
        const Splitter splitter(tables);
        for (int i = 0; i < 300; ++i) {
            const Bytes text = random_text(random, random.below(120));
            for (const isa::Level level : levels()) {
                CHECK(ends_by_tables(splitter, level, text_of(text)) ==
                      ends_of_runs(members, text_of(text)));
            }
        }
    }
}

TEST(tables_reach_back_to_the_register) {
    Random random{11};
    const Splitter splitter({lines()});
    for (int i = 0; i < 1000; ++i) {
        const Bytes text = runs(random);
        for (const isa::Level level : levels()) {
            CHECK(ends_by_tables(splitter, level, text_of(text)) == ends_of_lines(text_of(text)));
        }
    }
}

TEST(a_chain_of_tables_splits_where_the_table_before_it_gets_lost) {
    const SplitTable whole = runs_up_to_a_one();
    const Splitter splitter({whole, runs_of('a'), runs_of(' ')});
    Random random{8};
    for (int i = 0; i < 600; ++i) {
        const Bytes text = random_text(random, random.below(400));
        for (const isa::Level level : levels())
            CHECK(ends_by_tables(splitter, level, text_of(text)) ==
                  ends_of_runs("a ", text_of(text)));
    }
    CHECK_THROWS(Splitter({whole}), std::invalid_argument);
    CHECK_THROWS(Splitter({runs_of(' '), whole}), std::invalid_argument);
}

TEST(tables_cut_where_they_say) {
    const Splitter splitter({runs_of(' ')});
    const Bytes text = bytes_of("ab\xC3\xA9  c");
    const std::uint8_t* const begin = text.data();
    const std::uint8_t* const end = begin + text.size();
    CHECK(safe_cut(splitter, begin, end) == begin + 4);
    CHECK(safe_cut(splitter, begin + 3, end) == begin + 6);  // the byte at 3 continues a character
    CHECK(safe_cut(splitter, begin + 7, end) == end);
}

TEST(tables_that_do_not_fit_together_are_refused) {
    const std::uint32_t starts[] = {0, 32, 33};
    const std::uint8_t classes[] = {0, 1, 0};
    const std::uint16_t next[] = {0, 0};
    const SplitTable::Action actions[] = {0, 0, kEndsHere};
    SplitTable(starts, classes, next, actions, {0, 0});
    const std::uint32_t late[] = {1, 32, 33}, unsorted[] = {0, 33, 32},
                        beyond[] = {0, 32, 0x110000};
    for (const auto& wrong : {late, unsorted, beyond})
        CHECK_THROWS(SplitTable({wrong, 3}, classes, next, actions, {0, 0}), std::invalid_argument);
    const std::uint8_t unknown[] = {0, 2, 0};
    CHECK_THROWS(SplitTable(starts, unknown, next, actions, {0, 0}), std::invalid_argument);
    const std::uint16_t outside[] = {0, 1};
    CHECK_THROWS(SplitTable(starts, classes, outside, actions, {0, 0}), std::invalid_argument);
    CHECK_THROWS(SplitTable(starts, classes, next, {actions, 2}, {0, 0}), std::invalid_argument);
    CHECK_THROWS(SplitTable(starts, classes, next, actions, {}), std::invalid_argument);
    CHECK_THROWS(SplitTable(starts, classes, {}, {}, {0, 0}), std::invalid_argument);
    CHECK_THROWS(Splitter(std::vector<SplitTable>{}), std::invalid_argument);
    CHECK_THROWS(Splitter(std::vector<SplitTable>(7, runs_of(' '))), std::invalid_argument);
}

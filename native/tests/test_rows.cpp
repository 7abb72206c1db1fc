// Added tokens in invalid UTF-8 and in strs, and rows with arrays of the wrong size.
#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "encode/added_tokens.hpp"
#include "rows/fill.hpp"
#include "rows/rows.hpp"

using namespace toksmith;

namespace {

using Matches = std::vector<AddedTokens::Match>;

Text text_of(std::string_view text) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
    return {begin, begin + text.size()};
}

bool are(const Matches& found, const std::vector<std::vector<std::size_t>>& expected) {
    if (found.size() != expected.size()) return false;
    for (std::size_t i = 0; i < found.size(); ++i) {
        const std::vector<std::size_t> match{found[i].start, found[i].end, found[i].id};
        if (match != expected[i]) return false;
    }
    return true;
}

RowLayout layout_of(std::vector<int> parts) {
    RowLayout layout;
    layout.parts = std::move(parts);
    return layout;
}

template <typename Call>
bool is_refused(const Call& call) {
    try {
        call();
    } catch (const std::invalid_argument&) {
        return true;
    }
    return false;
}

AddedTokens tokens() {
    return AddedTokens({{"ab", 1, false, false, false},
                        {"abc", 2, false, false, false},
                        {"<m>", 3, false, true, true},
                        {"word", 4, true, false, false},
                        {"\xEF\xBF\xBD", 5, false, false, false}},
                       false, [](std::uint32_t code) { return code == 'x'; });
}

}  // namespace

TEST(added_tokens_in_utf8) {
    const AddedTokens added = tokens();
    Matches found;
    added.find(text_of("xabcdab"), found);
    CHECK(are(found, {{1, 4, 2}, {5, 7, 1}}));
    added.find(text_of("a \xC2\x85<m>\xE3\x80\x80\xE3\x80"), found);
    CHECK(are(found, {{1, 10, 3}}));
    added.find(text_of("wordx word\xFF xword word"), found);
    CHECK(are(found, {{6, 10, 4}, {18, 22, 4}}));
    added.find(text_of(""), found);
    CHECK(found.empty());
}

TEST(added_tokens_in_strs) {
    const AddedTokens added = tokens();
    Matches found;
    // A pair is one character; a lone surrogate is U+FFFD.
    const std::uint16_t units[] = {0xD83D, 0xDE04, 0x3000, '<', 'm', '>', 0xDE04, 'a', 'b'};
    added.find(InputText(units, 9, utf8::kTwoBytes), found);
    CHECK(are(found, {{2, 6, 3}, {6, 7, 5}, {7, 9, 1}}));
}

TEST(tokens_that_start_with_space_are_refused_beside_those_that_take_it) {
    const std::vector<AddedTokens::Token> both{{" a", 1, false, false, false},
                                               {"b", 2, false, false, true}};
    CHECK(is_refused([&] { AddedTokens(both, false, [](std::uint32_t) { return false; }); }));
}

TEST(rows_check_the_sizes_of_arrays) {
    const std::vector<std::int64_t> offsets{0, 3, 3}, values{101, 0}, falling{3, 0};
    const std::vector<Id> ids{7, 8, 9};
    const Rows rows(layout_of({kTemplate, 0}), {offsets});
    CHECK(rows.size() == 2 && rows.longest() == 4 && rows.tokens() == 5);
    std::vector<std::int64_t> out(10, -1);
    const auto gather_to = [&](std::optional<std::int64_t> width, std::size_t items) {
        const std::array<std::span<const Id>, 2> given{{{ids.data(), items}, {}}};
        gather<std::int64_t>(rows, {width, true}, out, given, values, 0, 2);
    };
    gather_to(5, 3);
    CHECK(out == std::vector<std::int64_t>({0, 101, 7, 8, 9, 0, 0, 0, 0, 101}));
    CHECK(is_refused([&] { gather_to(4, 3); }));
    CHECK(is_refused([&] { gather_to(3, 3); }));
    CHECK(is_refused([&] { gather_to({}, 3); }));
    CHECK(is_refused([&] { gather_to(5, 2); }));
    CHECK(is_refused([&] { Rows(layout_of({1}), {offsets}); }));
    CHECK(is_refused([&] { Rows(layout_of({0}), {falling}); }));
}

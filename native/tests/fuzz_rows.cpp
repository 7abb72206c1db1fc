// Lays random documents out as rows of model inputs, and compares the arrays with rows that are
// built token by token.
#include "fuzz.hpp"
#include "rows/fill.hpp"
#include "rows/rows.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// The tokens of the rows, one by one. `ids`: of each text.
std::vector<std::vector<std::int64_t>> rows_slowly(const Rows& rows,
                                                   const std::array<std::vector<Id>, 2>& ids,
                                                   const std::vector<std::int64_t>& values) {
    std::vector<std::vector<std::int64_t>> found;
    for (const Rows::Row& row : rows.rows()) {
        std::vector<std::int64_t>& tokens = found.emplace_back();
        for (std::size_t part = 0; part < rows.parts().size(); ++part) {
            const int text = rows.parts()[part];
            if (text == kTemplate) {
                tokens.push_back(values[part]);
                continue;
            }
            const auto which = static_cast<std::size_t>(text);
            const Rows::Range range = row.texts[which];
            CHECK(0 <= range.start && range.start <= range.end);
            CHECK(range.end <= static_cast<std::int64_t>(ids[which].size()));
            tokens.insert(tokens.end(), ids[which].begin() + range.start,
                          ids[which].begin() + range.end);
        }
    }
    return found;
}

// Without overflow, each document is one row; with it, the windows of a single text cover it.
void check_coverage(const Rows& rows, const RowLayout& layout,
                    const std::vector<std::int64_t>& offsets, bool is_pair) {
    if (!layout.overflow) CHECK(rows.size() == offsets.size() - 1);
    if (!layout.overflow || is_pair) return;
    std::vector<bool> covered(static_cast<std::size_t>(offsets.back()));
    for (const Rows::Row& row : rows.rows()) {
        const auto document = static_cast<std::size_t>(row.document);
        const Rows::Range range = row.texts[0];
        CHECK(offsets[document] <= range.start && range.end <= offsets[document + 1]);
        for (std::int64_t i = range.start; i < range.end; ++i)
            covered[static_cast<std::size_t>(i)] = true;
    }
    const bool no_room =
        layout.max_length && *layout.max_length == std::ranges::count(layout.parts, kTemplate);
    CHECK(no_room || std::ranges::count(covered, false) == 0);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 200);
    Random& random = input.random;
    const bool is_pair = random.below(2);
    std::array<std::vector<std::int64_t>, 2> offsets{{{0}, {0}}};
    std::array<std::vector<Id>, 2> ids;
    for (std::size_t i = 0; i < input.text.size(); ++i) {  // the bytes are sizes of documents
        for (std::size_t text = 0; text < 2; ++text) {
            const std::size_t length = text == 0 ? input.text[i] % 16 : input.text[i] / 16;
            for (std::size_t j = 0; j < length; ++j)
                ids[text].push_back(static_cast<Id>(1000 * (text + 1) + ids[text].size()));
            offsets[text].push_back(static_cast<std::int64_t>(ids[text].size()));
        }
    }
    if (!is_pair) ids[1].clear();

    RowLayout layout;
    for (std::size_t i = random.below(6); i > 0; --i)
        layout.parts.push_back(static_cast<int>(random.below(2 + is_pair)) - 1);
    if (std::ranges::count(layout.parts, 0) == 0) layout.parts.push_back(0);
    if (is_pair && std::ranges::count(layout.parts, 1) == 0) layout.parts.push_back(1);
    // A text may stand in a template once.
    for (int text = 0; text < 2; ++text) {
        while (std::ranges::count(layout.parts, text) > 1)
            layout.parts.erase(std::ranges::find(layout.parts, text));
    }
    if (random.below(4)) layout.max_length = static_cast<std::int64_t>(random.below(30));
    layout.stride = static_cast<std::int64_t>(random.below(random.below(2) ? 1 : 8));
    layout.strategy = static_cast<RowLayout::Strategy>(random.below(3));
    layout.cuts_left = random.below(2);
    layout.overflow = random.below(2);

    std::vector<std::span<const std::int64_t>> given{offsets[0]};
    if (is_pair) given.emplace_back(offsets[1]);
    std::vector<std::int64_t> values;
    for (std::size_t i = 0; i < layout.parts.size(); ++i) values.push_back(-1 - std::int64_t(i));
    try {
        const Rows rows(layout, given);
        check_coverage(rows, layout, offsets[0], is_pair);
        const auto expected = rows_slowly(rows, ids, values);
        std::int64_t longest = 0, tokens = 0;
        for (std::size_t row = 0; row < expected.size(); ++row) {
            CHECK(rows.length(row) == std::ssize(expected[row]));
            CHECK(!layout.max_length || rows.length(row) <= *layout.max_length);
            longest = std::max(longest, rows.length(row));
            tokens += rows.length(row);
        }
        CHECK(rows.longest() == longest && rows.tokens() == tokens);

        Rows::Shape shape;
        if (random.below(2)) shape.width = longest + static_cast<std::int64_t>(random.below(3));
        shape.pads_left = random.below(2);
        std::vector<std::int64_t> all;
        for (const auto& row : expected) {
            const std::int64_t gap = shape.width ? *shape.width - std::ssize(row) : 0;
            if (shape.pads_left) all.insert(all.end(), static_cast<std::size_t>(gap), -99);
            all.insert(all.end(), row.begin(), row.end());
            if (!shape.pads_left) all.insert(all.end(), static_cast<std::size_t>(gap), -99);
        }
        CHECK(rows.items(shape) == std::ssize(all));
        std::vector<std::int64_t> out(all.size());
        gather<std::int64_t>(rows, shape, out, {{ids[0], ids[1]}}, values, -99,
                             some_threads(random));
        CHECK(out == all);
    } catch (const Rows::CannotCut& found) {
        CHECK(layout.max_length && found.document + 1 < offsets[0].size());
    }
    return 0;
}

#include "rows/fill.hpp"

#include <algorithm>
#include <stdexcept>

#include "base/parallel.hpp"

namespace toksmith {
namespace {

constexpr std::size_t kRowsAtOnce = 1024;

// Calls work(first row, last row) for all rows, in blocks.
template <typename Work>
void on_threads(const Rows& rows, std::size_t threads, const Work& work) {
    const std::size_t blocks = (rows.size() + kRowsAtOnce - 1) / kRowsAtOnce;
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, blocks));
    for_each_on_threads(used, blocks, [&](std::size_t block) {
        const std::size_t first = block * kRowsAtOnce;
        work(first, std::min(rows.size(), first + kRowsAtOnce));
    });
}

void check(bool fits) {
    if (!fits) throw std::invalid_argument("an array does not have the size of the rows");
}

template <typename T>
void check_items(const Rows& rows, const std::array<std::span<const T>, 2>& items,
                 std::int64_t per_token) {
    for (std::size_t text = 0; text < items.size(); ++text)
        check(static_cast<std::int64_t>(items[text].size()) >= per_token * rows.text_tokens(text));
}

void check_values(const Rows& rows, std::span<const std::int64_t> values) {
    check(values.size() == rows.parts().size());
}

}  // namespace

template <typename T>
void gather(const Rows& rows, const Rows::Shape& shape, std::span<T> out,
            const std::array<std::span<const Id>, 2>& items, std::span<const std::int64_t> values,
            std::int64_t padding, std::size_t threads) {
    check(static_cast<std::int64_t>(out.size()) == rows.items(shape));
    check_values(rows, values);
    check_items(rows, items, 1);
    const auto filler = static_cast<T>(padding);
    on_threads(rows, threads, [&](std::size_t first, std::size_t last) {
        rows.for_each_part(
            shape, first, last,
            [&](std::size_t part, Rows::Range range, std::int64_t place) {
                T* const to = out.data() + place;
                const int text = rows.parts()[part];
                if (text == kTemplate) {
                    *to = static_cast<T>(values[part]);
                    return;
                }
                const Id* const from = items[static_cast<std::size_t>(text)].data() + range.start;
                for (std::int64_t i = 0; i < range.size(); ++i) to[i] = static_cast<T>(from[i]);
            },
            [&](std::int64_t from, std::int64_t to) {
                std::fill(out.data() + from, out.data() + to, filler);
            });
    });
}

template <typename T>
void fill(const Rows& rows, const Rows::Shape& shape, std::span<T> out,
          std::span<const std::int64_t> values, std::int64_t padding, std::size_t threads) {
    check(static_cast<std::int64_t>(out.size()) == rows.items(shape));
    check_values(rows, values);
    const auto filler = static_cast<T>(padding);
    on_threads(rows, threads, [&](std::size_t first, std::size_t last) {
        rows.for_each_part(
            shape, first, last,
            [&](std::size_t part, Rows::Range range, std::int64_t place) {
                const std::int64_t size = rows.parts()[part] == kTemplate ? 1 : range.size();
                std::fill_n(out.data() + place, size, static_cast<T>(values[part]));
            },
            [&](std::int64_t from, std::int64_t to) {
                std::fill(out.data() + from, out.data() + to, filler);
            });
    });
}

template void gather(const Rows&, const Rows::Shape&, std::span<std::int64_t>,
                     const std::array<std::span<const Id>, 2>&, std::span<const std::int64_t>,
                     std::int64_t, std::size_t);
template void gather(const Rows&, const Rows::Shape&, std::span<Id>,
                     const std::array<std::span<const Id>, 2>&, std::span<const std::int64_t>,
                     std::int64_t, std::size_t);
template void fill(const Rows&, const Rows::Shape&, std::span<std::int64_t>,
                   std::span<const std::int64_t>, std::int64_t, std::size_t);
template void fill(const Rows&, const Rows::Shape&, std::span<std::int8_t>,
                   std::span<const std::int64_t>, std::int64_t, std::size_t);

void gather_spans(const Rows& rows, const Rows::Shape& shape, std::span<std::int64_t> out,
                  const std::array<std::span<const std::int64_t>, 2>& spans,
                  const std::optional<SpanTrim>& trim, std::size_t threads) {
    check(static_cast<std::int64_t>(out.size()) == 2 * rows.items(shape));
    check_items(rows, spans, 2);
    if (trim) check_items(rows, trim->ids, 1);
    const auto trimmed = [&](std::int64_t* span, Id id, bool is_first) {
        if (2 * std::size_t{id} + 1 >= trim->spaces.size()) return;
        const std::int64_t before = trim->spaces[2 * std::size_t{id}];
        const std::int64_t after = trim->spaces[2 * std::size_t{id} + 1];
        std::int64_t &start = span[0], &end = span[1];
        if (!trim->keeps_first || !(is_first || start == 0)) start = std::min(start + before, end);
        if (end >= after) end = std::max(end - after, start);
    };
    on_threads(rows, threads, [&](std::size_t first, std::size_t last) {
        rows.for_each_part(
            shape, first, last,
            [&](std::size_t part, Rows::Range range, std::int64_t place) {
                std::int64_t* const to = out.data() + 2 * place;
                if (rows.parts()[part] == kTemplate) {
                    to[0] = to[1] = 0;
                    return;
                }
                const auto text = static_cast<std::size_t>(rows.parts()[part]);
                const std::int64_t* const from = spans[text].data() + 2 * range.start;
                std::copy_n(from, 2 * range.size(), to);
                if (!trim) return;
                const Id* const ids = trim->ids[text].data() + range.start;
                for (std::int64_t i = 0; i < range.size(); ++i) trimmed(to + 2 * i, ids[i], i == 0);
            },
            [&](std::int64_t from, std::int64_t to) {
                std::fill(out.data() + 2 * from, out.data() + 2 * to, std::int64_t{0});
            });
    });
}

}  // namespace toksmith

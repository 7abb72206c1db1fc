// Fills arrays of rows with what each token has: an id, a number of its part, a span.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>

#include "base/id_array.hpp"
#include "rows/rows.hpp"

namespace toksmith {

// All functions throw std::invalid_argument if an array does not have the size of the rows.

// Writes one number for each token: `items` of its text, `values` of its part if it is the
// template's, or `padding`. T: std::int64_t or Id.
template <typename T>
void gather(const Rows& rows, const Rows::Shape& shape, std::span<T> out,
            const std::array<std::span<const Id>, 2>& items, std::span<const std::int64_t> values,
            std::int64_t padding, std::size_t threads);

// Writes the number of its part for each token. T: std::int64_t or std::int8_t.
template <typename T>
void fill(const Rows& rows, const Rows::Shape& shape, std::span<T> out,
          std::span<const std::int64_t> values, std::int64_t padding, std::size_t threads);

// Takes white space off the spans of tokens.
struct SpanTrim {
    std::array<std::span<const Id>, 2> ids;
    // By id, the number of spaces at the start and at the end of the token.
    std::span<const std::uint32_t> spaces;
    bool keeps_first;  // the first token of a text keeps the space before it
};

// Writes the span of each token, two numbers: that in its text; 0, 0 for the template's tokens and
// for padding.
void gather_spans(const Rows& rows, const Rows::Shape& shape, std::span<std::int64_t> out,
                  const std::array<std::span<const std::int64_t>, 2>& spans,
                  const std::optional<SpanTrim>& trim, std::size_t threads);

}  // namespace toksmith

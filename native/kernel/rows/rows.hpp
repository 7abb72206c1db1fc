// Rows of model inputs: which tokens of which texts each row has, and in which order.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <vector>

namespace toksmith {

// A row consists of parts in a fixed order: a token of the template, or tokens of a text.
constexpr int kTemplate = -1;

struct RowLayout {
    enum class Strategy { kLongestFirst, kOnlyFirst, kOnlySecond };

    std::vector<int> parts;  // the index of a text, or kTemplate
    std::optional<std::int64_t> max_length;
    std::int64_t stride = 0;
    Strategy strategy = Strategy::kLongestFirst;
    bool cuts_left = false;  // a text loses its first tokens
    bool overflow = false;   // tokens that are cut off form further rows
};

class Rows {
 public:
    // The tokens of a part of a row, as indices of the tokens of all texts.
    struct Range {
        std::int64_t start = 0, end = 0;
        std::int64_t size() const { return end - start; }
    };
    struct Row {
        std::int64_t document;
        std::array<Range, 2> texts;
    };
    // Document `document` cannot be cut to the maximum length.
    struct CannotCut {
        std::size_t document;
    };

    // `offsets`: for one or two texts of each document, the index of the first token of each
    // document; then the end of the last. Throws CannotCut, and std::invalid_argument if offsets
    // are not ascending or differ in number.
    Rows(RowLayout layout, std::vector<std::span<const std::int64_t>> offsets);

    std::size_t size() const { return rows_.size(); }
    const std::vector<Row>& rows() const { return rows_; }
    const std::vector<int>& parts() const { return layout_.parts; }
    std::int64_t tokens() const { return starts_.back(); }  // of all rows
    std::int64_t text_tokens(std::size_t text) const { return ends_[text]; }
    std::int64_t length(std::size_t row) const { return starts_[row + 1] - starts_[row]; }
    std::int64_t longest() const { return longest_; }
    // The index of the first token of each row among those of all rows; then their number.
    const std::vector<std::int64_t>& starts() const { return starts_; }

    // Where rows are written: one after the other, or padded to one width.
    struct Shape {
        std::optional<std::int64_t> width;
        bool pads_left = false;
    };
    // Throws std::invalid_argument if a row is longer than the width.
    std::int64_t items(const Shape& shape) const;

    // Calls part(number, range of tokens, place) for each part of each row, to write its tokens at
    // `place`, and pad(from, to) for the padding. A part of the template is one token, with an
    // empty range. Places are indices of the array of all rows.
    template <typename Part, typename Pad>
    void for_each_part(const Shape& shape, std::size_t first, std::size_t last, const Part& part,
                       const Pad& pad) const {
        for (std::size_t row = first; row < last; ++row) {
            std::int64_t place = starts_[row];
            if (shape.width) {
                const std::int64_t begin = static_cast<std::int64_t>(row) * *shape.width;
                const std::int64_t gap = *shape.width - length(row);
                if (shape.pads_left) {
                    pad(begin, begin + gap);
                } else {
                    pad(begin + length(row), begin + *shape.width);
                }
                place = shape.pads_left ? begin + gap : begin;
            }
            for (std::size_t i = 0; i < layout_.parts.size(); ++i) {
                const int text = layout_.parts[i];
                const Range range =
                    text == kTemplate ? Range() : rows_[row].texts[static_cast<std::size_t>(text)];
                part(i, range, place);
                place += text == kTemplate ? 1 : range.size();
            }
        }
    }

 private:
    void cut(std::size_t document, const std::vector<Range>& texts);
    void add(Row row);
    // The number of tokens of each text that fit into a row. Returns nothing if none do.
    std::optional<std::array<std::int64_t, 2>> share_room(const std::vector<Range>& texts) const;

    RowLayout layout_;
    std::int64_t added_ = 0;  // tokens of the template in a row
    std::vector<Row> rows_;
    std::vector<std::int64_t> starts_{0};
    std::array<std::int64_t, 2> ends_{};
    std::int64_t longest_ = 0;
    std::array<std::vector<Range>, 2> windows_;  // of one document
};

}  // namespace toksmith

#include "rows/rows.hpp"

#include <algorithm>
#include <stdexcept>
#include <utility>

#include "base/stop.hpp"

namespace toksmith {
namespace {

// The ranges of at most `room` tokens that a text is cut into. `overflow`: all of them, otherwise
// the first.
void cut_into_windows(Rows::Range text, std::int64_t room, const RowLayout& layout,
                      std::vector<Rows::Range>& windows) {
    windows.clear();
    const auto add = [&](std::int64_t start, std::int64_t end) {
        if (layout.cuts_left) {
            windows.push_back({text.end - end, text.end - start});
        } else {
            windows.push_back({text.start + start, text.start + end});
        }
    };
    const std::int64_t length = text.size();
    if (length <= room || room == 0 || !layout.overflow) {
        add(0, std::min(length, room));
        return;
    }
    const std::int64_t step = room - layout.stride;
    for (std::int64_t start = 0;; start += step) {
        add(start, std::min(start + room, length));
        if (start + room >= length) return;
    }
}

}  // namespace

Rows::Rows(RowLayout layout, std::vector<std::span<const std::int64_t>> offsets)
    : layout_(std::move(layout)) {
    if (offsets.empty() || offsets.size() > 2 || offsets[0].empty() ||
        offsets.back().size() != offsets[0].size())
        throw std::invalid_argument("rows have one or two texts");
    for (std::size_t text = 0; text < offsets.size(); ++text) {
        if (offsets[text][0] < 0 || !std::ranges::is_sorted(offsets[text]))
            throw std::invalid_argument("offsets must ascend");
        ends_[text] = offsets[text].back();
    }
    for (const int text : layout_.parts) {
        if (text < kTemplate || text >= static_cast<int>(offsets.size()))
            throw std::invalid_argument("a part of the layout is of no text");
        added_ += text == kTemplate;
    }
    const std::size_t documents = offsets[0].size() - 1;
    rows_.reserve(documents);
    starts_.reserve(documents + 1);
    std::vector<Range> texts(offsets.size());
    InterruptionPoints<1024> points;
    for (std::size_t document = 0; document < documents; ++document) {
        for (std::size_t i = 0; i < texts.size(); ++i)
            texts[i] = {offsets[i][document], offsets[i][document + 1]};
        cut(document, texts);
        points.step();
    }
}

std::optional<std::array<std::int64_t, 2>> Rows::share_room(const std::vector<Range>& texts) const {
    const std::int64_t room = *layout_.max_length - added_;
    const bool is_pair = texts.size() > 1;
    const std::int64_t first = texts[0].size(), second = is_pair ? texts[1].size() : 0;
    if (room < 0) return {};
    const std::int64_t excess = first + second - room;
    if (excess <= 0) return {{first, second}};
    switch (layout_.strategy) {
        case RowLayout::Strategy::kOnlyFirst:
            if (first <= excess) return {};
            return {{first - excess, second}};
        case RowLayout::Strategy::kOnlySecond:
            if (!is_pair || second <= excess) return {};
            return {{first, second - excess}};
        default:
            break;
    }
    if (!is_pair) return {{room, 0}};
    std::int64_t shorter = std::min(first, second);
    std::int64_t longer = shorter > room ? shorter : std::max(shorter, room - shorter);
    if (shorter + longer > room) {
        shorter = room / 2;
        longer = shorter + room % 2;
    }
    if (first <= second) return {{shorter, longer}};
    return {{longer, shorter}};
}

void Rows::cut(std::size_t document, const std::vector<Range>& texts) {
    const auto number = static_cast<std::int64_t>(document);
    std::array<Range, 2> whole{};
    std::ranges::copy(texts, whole.begin());
    if (!layout_.max_length) {
        add({number, whole});
        return;
    }
    const auto room = share_room(texts);
    if (!room) throw CannotCut{document};
    for (std::size_t i = 0; i < whole.size(); ++i) {
        const bool is_cut = (*room)[i] < whole[i].size();
        if (layout_.overflow && is_cut && layout_.stride >= (*room)[i]) throw CannotCut{document};
        cut_into_windows(whole[i], (*room)[i], layout_, windows_[i]);
    }
    // The order of `tokenizers`: the windows of the second text with the first window of the first
    // text come last.
    const auto& [first, second] = windows_;
    add({number, {first[0], second[0]}});
    for (std::size_t i = 1; i < first.size(); ++i) {
        for (const Range& other : second) add({number, {first[i], other}});
    }
    for (std::size_t i = 1; i < second.size(); ++i) add({number, {first[0], second[i]}});
}

void Rows::add(Row row) {
    std::int64_t length = added_;
    for (const int text : layout_.parts) {
        if (text != kTemplate) length += row.texts[static_cast<std::size_t>(text)].size();
    }
    rows_.push_back(row);
    starts_.push_back(starts_.back() + length);
    longest_ = std::max(longest_, length);
}

std::int64_t Rows::items(const Shape& shape) const {
    if (!shape.width) return tokens();
    if (*shape.width < longest_) throw std::invalid_argument("a row is longer than the width");
    return *shape.width * static_cast<std::int64_t>(size());
}

}  // namespace toksmith

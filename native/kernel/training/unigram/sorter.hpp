// Sorts places of words by the characters from there on, or back.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <vector>

#include "base/stop.hpp"
#include "training/unigram/words.hpp"

namespace toksmith::unigram {

// A suffix, with as many of its next characters as fit into the key, so that comparing keys
// compares characters. The end of a word is 0, and all characters after it are 0, too.
struct Item {
    std::uint64_t key;
    std::uint32_t place;

    bool operator<(const Item& other) const {
        return key != other.key ? key < other.key : place < other.place;
    }
};

inline constexpr std::ptrdiff_t kLarge = std::ptrdiff_t{1}
                                         << 18;  // items; sorting them takes about 10 ms

// Sorts places of the text by the characters from there on; if kBackward, by those from there back.
template <bool kBackward>
class Sorter {
 public:
    // Compares at most `depth` characters.
    Sorter(const CountedWords& words, std::size_t depth)
        : text_(words.text.data()),
          depth_(depth),
          bits_(static_cast<unsigned>(std::bit_width(words.alphabet))),
          step_(64 / bits_) {}

    // Sorts places that agree in the first `same` characters.
    void sort(std::uint32_t* first, std::uint32_t* last, std::size_t same) {
        const auto size = static_cast<std::size_t>(last - first);
        items_.clear();
        items_.reserve(size);
        item_points_.in_parts(size, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) items_.push_back({0, first[begin]});
        });
        left_.push_back({0, size, same});
        while (!left_.empty()) {
            const Range range = left_.back();
            left_.pop_back();
            sort(range);
        }
        item_points_.in_parts(size, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) first[begin] = items_[begin].place;
        });
    }

 private:
    // Items that agree in the first `same` characters.
    struct Range {
        std::size_t first, last, same;
    };

    void sort(const Range& range) {
        item_points_.in_parts(range.last - range.first, [&](std::size_t first, std::size_t last) {
            for (; first < last; ++first) {
                Item& item = items_[range.first + first];
                item.key = key(item.place, range.same);
            }
        });
        sort_items(items_.begin() + static_cast<std::ptrdiff_t>(range.first),
                   items_.begin() + static_cast<std::ptrdiff_t>(range.last));
        sort_points_.step();
        if (range.same + step_ >= depth_) return;
        const std::uint64_t last_character = (std::uint64_t{1} << bits_) - 1;
        for (std::size_t start = range.first; start < range.last;) {
            std::size_t next = start + 1;
            while (next < range.last && items_[next].key == items_[start].key) ++next;
            if (next - start > 1 && (items_[start].key & last_character)) {
                left_.push_back({start, next, range.same + step_});
            }
            start = next;
        }
    }

    static void sort_items(std::vector<Item>::iterator first, std::vector<Item>::iterator last) {
        if (last - first <= kLarge) return std::sort(first, last);
        InterruptionPoints<(std::size_t{1} << 16)> points;
        std::sort(first, last, with_interruption(points, std::less<>()));
    }

    std::uint64_t key(std::uint32_t place, std::size_t same) const {
        const std::uint32_t* next = kBackward ? text_ + place - same : text_ + place + same;
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < step_; ++i) {
            // Characters beyond the depth count as 0, like those after the end of a word.
            const std::uint32_t character = same + i < depth_ ? *next : 0;
            result = result << bits_ | character;
            if (!character) return result << bits_ * (step_ - 1 - i);
            next += kBackward ? -1 : 1;
        }
        return result;
    }

    const std::uint32_t* text_;
    std::size_t depth_;
    unsigned bits_;
    std::size_t step_;
    std::vector<Item> items_;
    std::vector<Range> left_;
    InterruptionPoints<64> sort_points_;
    InterruptionPoints<(1 << 16)> item_points_;
};

// Returns how many characters two words share, from these places on, or back.
template <bool kBackward>
std::uint32_t common(const CountedWords& words, std::uint32_t a, std::uint32_t b) {
    const std::uint32_t *left = words.text.data() + a, *right = words.text.data() + b;
    InterruptionPoints<(1 << 16)> points;
    std::uint32_t result = 0;
    for (; *left && *left == *right; ++result) {
        points.step();
        left += kBackward ? -1 : 1;
        right += kBackward ? -1 : 1;
    }
    return result;
}

}  // namespace toksmith::unigram

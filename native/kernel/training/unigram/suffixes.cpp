#include "training/unigram/suffixes.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <numeric>

#include "base/stop.hpp"

namespace toksmith::unigram {
namespace {

constexpr std::uint32_t kAhead = 16;

// A suffix, with as many of its next characters as fit into the key, so that comparing keys
// compares characters. The end of a word is 0, and all characters after it are 0, too.
struct Item {
    std::uint64_t key;
    std::uint32_t place;

    bool operator<(const Item& other) const {
        return key != other.key ? key < other.key : place < other.place;
    }
};

constexpr std::ptrdiff_t kLarge = std::ptrdiff_t{1} << 18;  // items; sorting them takes about 10 ms

class Sorter {
 public:
    Sorter(const CountedWords& words, std::size_t depth)
        : text_(words.text.data()),
          depth_(depth),
          bits_(static_cast<unsigned>(std::bit_width(words.alphabet.size()))),
          step_(64 / bits_) {}

    void sort(std::uint32_t* first, std::uint32_t* last) {
        const auto size = static_cast<std::size_t>(last - first);
        items_.clear();
        items_.reserve(size);
        item_points_.in_parts(size, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) items_.push_back({0, first[begin]});
        });
        sort(0, size, 1);  // all items of a bucket have the same first character
        item_points_.in_parts(size, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) first[begin] = items_[begin].place;
        });
    }

 private:
    void sort(std::size_t first, std::size_t last, std::size_t depth) {
        item_points_.in_parts(last - first, [&](std::size_t begin, std::size_t end) {
            for (; begin < end; ++begin) {
                Item& item = items_[first + begin];
                item.key = key(item.place, depth);
            }
        });
        sort_items(items_.begin() + static_cast<std::ptrdiff_t>(first),
                   items_.begin() + static_cast<std::ptrdiff_t>(last));
        sort_points_.step();
        if (depth + step_ >= depth_) return;
        const std::uint64_t last_character = (std::uint64_t{1} << bits_) - 1;
        for (std::size_t start = first; start < last;) {
            std::size_t end = start + 1;
            while (end < last && items_[end].key == items_[start].key) ++end;
            if (end - start > 1 && (items_[start].key & last_character)) {
                sort(start, end, depth + step_);  // changes the keys of these items only
            }
            start = end;
        }
    }

    static void sort_items(std::vector<Item>::iterator first, std::vector<Item>::iterator last) {
        if (last - first <= kLarge) return std::sort(first, last);
        InterruptionPoints<(std::size_t{1} << 16)> points;
        std::sort(first, last, with_interruption(points, std::less<>()));
    }

    std::uint64_t key(std::uint32_t place, std::size_t depth) const {
        const std::uint32_t* next = text_ + place + depth;
        std::uint64_t result = 0;
        for (std::size_t i = 0; i < step_; ++i) {
            // Characters beyond the depth count as 0, like those after the end of a word.
            const std::uint32_t character = depth + i < depth_ ? next[i] : 0;
            result = result << bits_ | character;
            if (!character) return result << bits_ * (step_ - 1 - i);
        }
        return result;
    }

    const std::uint32_t* text_;
    std::size_t depth_;
    unsigned bits_;
    std::size_t step_;
    std::vector<Item> items_;
    InterruptionPoints<64> sort_points_;
    InterruptionPoints<(1 << 16)> item_points_;
};

}  // namespace

Suffixes sort_suffixes(const CountedWords& words, std::size_t depth, const Workers& workers) {
    Suffixes result{depth, {}, std::vector<std::uint32_t>(words.alphabet.size() + 1)};
    InterruptionPoints<(1 << 16)> points;
    for (const std::uint32_t character : words.text) {
        points.step();
        if (character) ++result.buckets[character];
    }
    std::partial_sum(result.buckets.begin(), result.buckets.end(), result.buckets.begin());
    grow(result.places, result.buckets.back());
    std::vector<std::uint32_t> filled(result.buckets.begin(), result.buckets.end() - 1);
    for (std::uint32_t place = 0; place < words.text.size(); ++place) {
        points.step();
        if (const std::uint32_t character = words.text[place]) {
            result.places[filled[character - 1]++] = place;
        }
    }
    std::vector<Sorter> sorters(workers.threads, Sorter(words, depth));
    workers.run(words.alphabet.size(), [&](std::size_t thread, std::size_t bucket) {
        sorters[thread].sort(result.places.data() + result.buckets[bucket],
                             result.places.data() + result.buckets[bucket + 1]);
    });
    return result;
}

void shared_substrings(const CountedWords& words, const Suffixes& suffixes, std::size_t bucket,
                       const std::vector<std::uint32_t>& owners,
                       const std::function<void(const Shared&)>& found) {
    // The substrings with which the current suffix starts, each a prefix of the next one.
    std::vector<Shared> open{{suffixes.buckets[bucket], 0, 0, 0}};
    const auto close = [&](std::uint32_t length, std::uint32_t here) {
        while (open.back().length > length) {
            Shared closed = open.back();
            open.pop_back();
            closed.last = here;
            if (closed.length > 1) found(closed);
            if (open.back().length < length) {
                open.push_back({closed.first, 0, length, closed.count});
            } else {
                open.back().count += closed.count;
            }
        }
    };
    const std::uint32_t* before = nullptr;
    const std::uint32_t end = suffixes.buckets[bucket + 1];
    InterruptionPoints<4096> points;
    for (std::uint32_t i = suffixes.buckets[bucket]; i < end; ++i) {
        points.step();
        if (i + kAhead < end) {  // adjacent suffixes are scattered over the text
            __builtin_prefetch(words.text.data() + suffixes.places[i + kAhead]);
            __builtin_prefetch(owners.data() + suffixes.places[i + kAhead]);
        }
        const std::uint32_t* suffix = words.text.data() + suffixes.places[i];
        std::uint32_t common = 0, length = 0;
        if (before) {
            while (common < suffixes.depth && suffix[common] && suffix[common] == before[common]) {
                ++common;
            }
        }
        length = common;
        while (length < suffixes.depth && suffix[length]) ++length;
        close(common, i);
        const std::uint64_t count = words.counts[owners[suffixes.places[i]]];
        if (length > open.back().length) {
            open.push_back({i, 0, length, count});
        } else {
            open.back().count += count;
        }
        before = suffix;
    }
    close(0, end);
}

}  // namespace toksmith::unigram

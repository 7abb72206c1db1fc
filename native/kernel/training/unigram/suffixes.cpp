#include "training/unigram/suffixes.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

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

// Sorts places of the text by the characters from there on; if kBackward, by those from there back.
template <bool kBackward>
class Sorter {
 public:
    // Compares at most `depth` characters.
    Sorter(const CountedWords& words, std::size_t depth)
        : text_(words.text.data()),
          depth_(depth),
          bits_(static_cast<unsigned>(std::bit_width(words.alphabet.size()))),
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

}  // namespace

CountedWords cut_words(const bpe::CountedSymbols& words, std::vector<bpe::PieceTraits> alphabet,
                       const bpe::PieceRules& rules) {
    CountedWords cut;
    cut.alphabet = std::move(alphabet);
    cut.text.reserve(words.size() + words.ends.size() + 1);
    cut.text.push_back(0);
    InterruptionPoints<(1 << 16)> points;
    const auto end_part = [&](std::uint64_t count) {
        cut.text.push_back(0);
        if (cut.text.size() >= std::numeric_limits<std::uint32_t>::max()) {
            throw std::length_error("the distinct words come to 2^32 characters or more");
        }
        cut.counts.push_back(count);
    };
    std::uint64_t i = 0;
    for (std::size_t word = 0; word < words.ends.size(); ++word) {
        const std::uint64_t first = i, end = words.ends[word];
        for (; i < end; ++i) {
            points.step();
            const Id symbol = words.symbols[i];
            const bool is_apart =
                i > first && rules.apart(cut.alphabet[words.symbols[i - 1]], cut.alphabet[symbol]);
            if (is_apart) end_part(words.counts[word]);
            if (is_apart || i == first) {
                cut.starts.push_back(static_cast<std::uint32_t>(cut.text.size()));
            }
            cut.text.push_back(symbol + 1);
        }
        if (end > first) end_part(words.counts[word]);
    }

    std::vector<std::uint32_t> order = cut.starts;
    Sorter<false>(cut, std::numeric_limits<std::size_t>::max())
        .sort(order.data(), order.data() + order.size(), 0);
    CountedWords result;
    result.text.reserve(cut.text.size());
    result.text.push_back(0);
    for (std::size_t k = 0; k < order.size(); ++k) {
        points.step();
        const auto part = std::lower_bound(cut.starts.begin(), cut.starts.end(), order[k]);
        const auto number = static_cast<std::size_t>(part - cut.starts.begin());
        const std::uint32_t start = order[k], end = cut.end(number);
        if (k > 0) {
            const std::uint32_t same = common<false>(cut, order[k - 1], start);
            if (start + same == end && cut.text[order[k - 1] + same] == 0) {
                result.counts.back() += cut.counts[number];
                continue;
            }
        }
        result.counts.push_back(cut.counts[number]);
        result.starts.push_back(static_cast<std::uint32_t>(result.text.size()));
        points.in_parts(end + 1 - start, [&](std::size_t first, std::size_t last) {
            result.text.insert(result.text.end(), cut.text.data() + start + first,
                               cut.text.data() + start + last);
        });
    }
    result.text.shrink_to_fit();
    result.alphabet = std::move(cut.alphabet);
    return result;
}

WordEnds sort_ends(const CountedWords& words, const Workers& workers) {
    const std::size_t size = words.starts.size();
    std::vector<std::uint32_t> buckets(words.alphabet.size() + 1);  // by the last character
    InterruptionPoints<4096> points;
    for (std::size_t word = 0; word < size; ++word) {
        points.step();
        ++buckets[words.text[words.end(word) - 1]];
    }
    std::partial_sum(buckets.begin(), buckets.end(), buckets.begin());
    std::vector<std::uint32_t> filled(buckets.begin(), buckets.end() - 1);
    WordEnds result{std::vector<std::uint32_t>(size), std::vector<std::uint32_t>(size)};
    for (std::size_t word = 0; word < size; ++word) {
        points.step();
        const std::uint32_t last = words.end(word) - 1;
        result.order[filled[words.text[last] - 1]++] = last;
    }
    std::vector<Sorter<true>> sorters(workers.threads,
                                      Sorter<true>(words, std::numeric_limits<std::size_t>::max()));
    workers.run(words.alphabet.size(), [&](std::size_t thread, std::size_t bucket) {
        const std::size_t begin = buckets[bucket], end = buckets[bucket + 1];
        sorters[thread].sort(result.order.data() + begin, result.order.data() + end, 1);
        InterruptionPoints<4096> job_points;
        for (std::size_t i = begin + 1; i < end; ++i) {
            job_points.step();
            result.shared[i] = common<true>(words, result.order[i - 1], result.order[i]);
        }
        for (std::size_t i = begin; i < end; ++i) {
            job_points.step();
            const auto next =
                std::upper_bound(words.starts.begin(), words.starts.end(), result.order[i]);
            result.order[i] = static_cast<std::uint32_t>(next - words.starts.begin() - 1);
        }
    });
    return result;
}

std::vector<std::uint32_t> shared_prefixes(const CountedWords& words) {
    std::vector<std::uint32_t> result(words.starts.size());
    InterruptionPoints<4096> points;
    for (std::size_t word = 1; word < words.starts.size(); ++word) {
        points.step();
        result[word] = common<false>(words, words.starts[word - 1], words.starts[word]);
    }
    return result;
}

DistinctSuffixes::DistinctSuffixes(const CountedWords& words, const WordEnds& ends) {
    InterruptionPoints<(1 << 16)> points;
    counts_.reserve(words.text.size());
    points.in_parts(words.text.size(),
                    [&](std::size_t, std::size_t last) { counts_.resize(last, kNone); });
    // Words with the same suffix are adjacent, and the first one has it. `sums` are the counts of
    // the suffixes of a word, by length, in the words from it on.
    std::vector<std::uint64_t> sums;
    for (std::size_t i = ends.order.size(); i-- > 0;) {
        const std::uint32_t word = ends.order[i], end = words.end(word);
        const std::uint32_t length = end - words.starts[word];
        if (sums.size() <= length) sums.resize(length + 1);
        sums[length] += words.counts[word];
        points.in_parts(length - ends.shared[i], [&](std::size_t first, std::size_t last) {
            for (std::size_t k = length - first; k > length - last; --k) {
                const std::uint64_t count = sums[k];
                sums[k] = 0;
                sums[k - 1] += count;
                counts_[end - k] = static_cast<std::uint32_t>(count);
                if (count < kLarge) continue;
                counts_[end - k] = kLarge | static_cast<std::uint32_t>(large_.size());
                large_.push_back(count);
            }
        });
    }
}

Suffixes sort_suffixes(const CountedWords& words, const DistinctSuffixes& distinct,
                       std::size_t depth, const Workers& workers) {
    Suffixes result{depth, {}, std::vector<std::uint32_t>(words.alphabet.size() + 1)};
    InterruptionPoints<(1 << 16)> points;
    for (std::uint32_t place = 0; place < words.text.size(); ++place) {
        points.step();
        if (distinct.has(place)) ++result.buckets[words.text[place]];
    }
    std::partial_sum(result.buckets.begin(), result.buckets.end(), result.buckets.begin());
    grow(result.places, result.buckets.back());
    std::vector<std::uint32_t> filled(result.buckets.begin(), result.buckets.end() - 1);
    for (std::uint32_t place = 0; place < words.text.size(); ++place) {
        points.step();
        if (distinct.has(place)) result.places[filled[words.text[place] - 1]++] = place;
    }
    std::vector<Sorter<false>> sorters(workers.threads, Sorter<false>(words, depth));
    workers.run(words.alphabet.size(), [&](std::size_t thread, std::size_t bucket) {
        sorters[thread].sort(result.places.data() + result.buckets[bucket],
                             result.places.data() + result.buckets[bucket + 1], 1);
    });
    return result;
}

void shared_substrings(const CountedWords& words, const DistinctSuffixes& distinct,
                       const Suffixes& suffixes, std::size_t bucket,
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
            distinct.prefetch(suffixes.places[i + kAhead]);
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
        const std::uint64_t count = distinct.count(suffixes.places[i]);
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

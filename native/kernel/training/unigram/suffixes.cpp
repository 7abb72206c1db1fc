#include "training/unigram/suffixes.hpp"

#include <algorithm>
#include <bit>
#include <functional>
#include <limits>
#include <numeric>
#include <stdexcept>
#include <utility>

#include "base/stop.hpp"
#include "training/unigram/sorter.hpp"

namespace toksmith::unigram {
namespace {

constexpr std::uint32_t kAhead = 16;

}  // namespace

WordEnds sort_ends(const CountedWords& words, const Workers& workers) {
    const std::size_t size = words.starts.size();
    std::vector<std::uint32_t> buckets(words.alphabet + 1);  // by the last character
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
    workers.run(words.alphabet, [&](std::size_t thread, std::size_t bucket) {
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
    Suffixes result{depth, {}, std::vector<std::uint32_t>(words.alphabet + 1)};
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
    workers.run(words.alphabet, [&](std::size_t thread, std::size_t bucket) {
        sorters[thread].sort(result.places.data() + result.buckets[bucket],
                             result.places.data() + result.buckets[bucket + 1], 1);
    });
    return result;
}

void shared_substrings(const CountedWords& words, const DistinctSuffixes& distinct,
                       const Suffixes& suffixes, std::size_t bucket,
                       const std::function<void(const Shared&)>& found) {
    SharedPrefixes prefixes;
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
        prefixes.add(i, common, length, distinct.count(suffixes.places[i]), found);
        before = suffix;
    }
    prefixes.finish(found);
}

}  // namespace toksmith::unigram

// Runs of cached single characters that are chunks by themselves: most of a text in scripts of
// thousands of characters, with line breaks and punctuation between them. Their entries are known
// as soon as the run is found, so they need neither the cut table nor a look-up by hash.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cache/char_cache.hpp"
#include "split/cut_table.hpp"
#include "text/text.hpp"

namespace toksmith {

class CharRuns {
 public:
    using Byte = utf8::Byte;

    static constexpr std::size_t kMost = 1024;  // characters in all runs

    struct Run {
        const Byte* begin;
        std::size_t first, last;  // range in numbers_
        std::size_t chunk;        // its index among the queued chunks
    };

    CharRuns(const CutTable& cut_table, const CharCache& singles)
        : cut_table_(cut_table),
          singles_(singles),
          known_{singles.numbers(), cut_table.ascii_is_context_sensitive()} {
        clear();
    }

    // The first run that is not yet prefetched, and the first that is not yet consumed. After the
    // last run there is a sentinel, whose `chunk` is kNone.
    const Run *to_prefetch, *to_consume;

    // Drops the consumed runs, when the queue drops its first `chunks` chunks.
    void forget(std::size_t chunks) {
        if (chunks == 0 || run_count_ == 0) return;
        const auto taken = static_cast<std::size_t>(to_consume - runs_.data());
        if (taken == run_count_) return clear();
        const std::size_t characters = to_consume->first;
        for (std::size_t i = taken; i < run_count_; ++i) {
            const Run& run = runs_[i];
            runs_[i - taken] = {run.begin, run.first - characters, run.last - characters,
                                run.chunk - chunks};
        }
        std::copy(numbers_.begin() + characters, numbers_.begin() + count_, numbers_.begin());
        run_count_ -= taken;
        count_ -= characters;
        runs_[run_count_].chunk = kNone;
        to_prefetch -= taken;
        to_consume = runs_.data();
    }
    bool empty() const { return run_count_ == 0; }
    bool full() const { return count_ == kMost; }
    std::size_t size() const { return count_; }  // characters in all runs
    std::size_t count() const { return run_count_; }
    Run& run(std::size_t i) { return runs_[i]; }
    // Maps the index of a character in the runs to its cache entry.
    struct Entries {
        const CharCache::Number* numbers;
        const CacheEntry* by_number;
        const CacheEntry& operator[](std::size_t i) const { return by_number[numbers[i]]; }
    };
    Entries entries() const { return {numbers_.data(), singles_.entries()}; }

    // Whether a chunk is a single character of a kind that runs consist of.
    static bool may_hold(const CutTable& cut_table, const Byte* chunk, std::size_t size) {
        return size == 1 ? *chunk < 0x80 : size == CharCache::kSize && cut_table.is_single(chunk);
    }
    // The text of one character of a run. `entry`: its index in the runs.
    static Text text(const Run& run, std::size_t entry) {
        const Byte* p = run.begin;
        for (std::size_t i = run.first; i < entry; ++i) p += size_at(p);
        return {p, p + size_at(p)};
    }

    // Adds the run that starts at p, where a chunk may start, and returns its end, or p if there is
    // none. The caller sets the `chunk` of the run.
    const Byte* find(const Byte* p, const Byte* end) {
        // A local copy: another thread may write a number at any time, so compilers would reload
        // members after each read.
        const Known known = known_;
        const std::size_t first = count_;
        std::size_t last = first;
        const Byte* q = p;
        while (last < kMost) {
            CharCache::Number number = known.number(q, end);
            if (number != 0) {
                q += CharCache::kSize;
            } else if (q != p && (number = known.number_between(q, end)) != 0) {
                ++q;
            } else {
                break;
            }
            numbers_[last++] = number;
        }
        if (q == p) return p;
        if (!known.is_between(q, end)) {
            const std::size_t held = std::min(cut_table_.trailing_context(q, end), last - first);
            for (std::size_t i = 0; i < held; ++i) q -= q[-1] < 0x80 ? 1 : CharCache::kSize;
            last -= held;
        }
        if (q == p) return p;
        count_ = last;
        runs_[run_count_++] = {p, first, last, kNone};
        runs_[run_count_].chunk = kNone;
        return q;
    }

 private:
    static constexpr std::size_t kNone = ~std::size_t{0};

    void clear() {
        run_count_ = count_ = 0;
        runs_[0].chunk = kNone;
        to_prefetch = to_consume = runs_.data();
    }

    // The cached characters.
    struct Known {
        CharCache::Numbers numbers;
        bool ascii_is_context_sensitive;

        // The number of the character of three bytes at p; 0 if it is not cached.
        CharCache::Number number(const Byte* p, const Byte* end) const {
            return end - p >= 4 && CharCache::may_be_at(p) ? numbers.of(p) : 0;
        }
        // The number of the ASCII character at p, if it is between two characters of a run; else 0.
        CharCache::Number number_between(const Byte* p, const Byte* end) const {
            return is_between(p, end) ? numbers.of_ascii(*p) : CharCache::Number{0};
        }
        // Whether an ASCII character at p, followed by a cached one, is a chunk by itself: neither
        // of the two is normalized together with the text before it.
        bool is_between(const Byte* p, const Byte* end) const {
            return end - p > 1 && p[0] < 0x80 && !ascii_is_context_sensitive &&
                   number(p + 1, end) != 0;
        }
    };

    static std::size_t size_at(const Byte* p) { return *p < 0x80 ? 1 : CharCache::kSize; }

    const CutTable& cut_table_;
    const CharCache& singles_;
    const Known known_;
    std::size_t run_count_ = 0, count_ = 0;
    std::array<Run, kMost + 1> runs_;
    std::array<CharCache::Number, kMost> numbers_;
};

}  // namespace toksmith

// Runs of characters that stand alone and are known: most of a text in scripts of thousands of
// characters, with the ends of lines and signs between them. They need no boundaries between them
// and no look-up by hash; what each became is told while the run is found.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>

#include "cache/single_cache.hpp"
#include "split/cut_table.hpp"
#include "text/text.hpp"

namespace toksmith {

class SingleRuns {
 public:
    using Byte = utf8::Byte;

    static constexpr std::size_t kMost = 1024;  // characters

    struct Run {
        const Byte* begin;
        std::size_t first, last;  // of the answers
        std::size_t chunk;        // that it is, among those on their way
    };

    SingleRuns(const CutTable& cut_table, const SingleCache& singles)
        : cut_table_(cut_table),
          singles_(singles),
          known_{singles.numbers(), cut_table.ascii_is_context_sensitive()} {
        clear();
    }

    // The first one that was not asked for yet, and the first one that was not taken. Behind the
    // last stands one that is no chunk.
    const Run *to_ask, *to_take;

    // Forgets those that were taken, when so many of the chunks on their way are forgotten.
    void forget(std::size_t chunks) {
        if (chunks == 0 || run_count_ == 0) return;
        const auto taken = static_cast<std::size_t>(to_take - runs_.data());
        if (taken == run_count_) return clear();
        const std::size_t characters = to_take->first;
        for (std::size_t i = taken; i < run_count_; ++i) {
            const Run& run = runs_[i];
            runs_[i - taken] = {run.begin, run.first - characters, run.last - characters,
                                run.chunk - chunks};
        }
        std::copy(numbers_.begin() + characters, numbers_.begin() + count_, numbers_.begin());
        run_count_ -= taken;
        count_ -= characters;
        runs_[run_count_].chunk = kNone;
        to_ask -= taken;
        to_take = runs_.data();
    }
    bool empty() const { return run_count_ == 0; }
    bool full() const { return count_ == kMost; }
    std::size_t size() const { return count_; }  // in characters
    std::size_t count() const { return run_count_; }
    Run& run(std::size_t i) { return runs_[i]; }
    // What each character became.
    struct Answers {
        const SingleCache::Number* numbers;
        const Answer* by_number;
        const Answer& operator[](std::size_t i) const { return by_number[numbers[i]]; }
    };
    Answers answers() const { return {numbers_.data(), singles_.answers()}; }

    // Whether a chunk may be in one.
    static bool may_hold(const CutTable& cut_table, const Byte* chunk, std::size_t size) {
        return size == 1 ? *chunk < 0x80 : size == SingleCache::kSize && cut_table.is_single(chunk);
    }
    // A character of a run, by the number of its answer.
    static Text text(const Run& run, std::size_t answer) {
        const Byte* p = run.begin;
        for (std::size_t i = run.first; i < answer; ++i) p += size_at(p);
        return {p, p + size_at(p)};
    }

    // Adds the run that starts at p, where a chunk may start, and returns its end; p if there is
    // none. Which chunk it is remains to be told.
    const Byte* find(const Byte* p, const Byte* end) {
        // Copies: behind each number, which another thread may just have written, compilers read
        // members again.
        const Known known = known_;
        const std::size_t first = count_;
        std::size_t last = first;
        const Byte* q = p;
        while (last < kMost) {
            SingleCache::Number number = known.number(q, end);
            if (number != 0) {
                q += SingleCache::kSize;
            } else if (q != p && (number = known.number_between(q, end)) != 0) {
                ++q;
            } else {
                break;
            }
            numbers_[last++] = number;
        }
        if (q == p) return p;
        if (!known.is_between(q, end)) {
            const std::size_t held = std::min(cut_table_.held(q, end), last - first);
            for (std::size_t i = 0; i < held; ++i) q -= q[-1] < 0x80 ? 1 : SingleCache::kSize;
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
        to_ask = to_take = runs_.data();
    }

    // What is known of characters.
    struct Known {
        SingleCache::Numbers numbers;
        bool ascii_is_context_sensitive;

        // 0: it is not.
        SingleCache::Number number(const Byte* p, const Byte* end) const {
            return end - p >= 4 && SingleCache::may_be_at(p) ? numbers.of(p) : 0;
        }
        // Of a character of ASCII behind one of a run.
        SingleCache::Number number_between(const Byte* p, const Byte* end) const {
            return is_between(p, end) ? numbers.of_ascii(*p) : SingleCache::Number{0};
        }
        // Whether one character of ASCII stands before the next run, and so alone: neither is
        // rewritten together with what is before it.
        bool is_between(const Byte* p, const Byte* end) const {
            return end - p > 1 && p[0] < 0x80 && !ascii_is_context_sensitive &&
                   number(p + 1, end) != 0;
        }
    };

    static std::size_t size_at(const Byte* p) { return *p < 0x80 ? 1 : SingleCache::kSize; }

    const CutTable& cut_table_;
    const SingleCache& singles_;
    const Known known_;
    std::size_t run_count_ = 0, count_ = 0;
    std::array<Run, kMost + 1> runs_;
    std::array<SingleCache::Number, kMost> numbers_;
};

}  // namespace toksmith

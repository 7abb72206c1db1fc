// Upper bounds of the counts of all pairs, in a table of fixed size: the counts of pairs with the
// same hash are added up (Cormode & Muthukrishnan 2005, with one row).
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <vector>

#include "base/hash.hpp"
#include "base/huge_page_array.hpp"
#include "base/parallel.hpp"
#include "models/bpe/pair_table.hpp"

namespace toksmith::bpe {

class PairBounds {
 public:
    // The pairs that may occur `least` times or more: one bit for each hash.
    class Filter {
     public:
        bool has(Id left, Id right) const {
            const std::size_t slot = slot_of(left, right, shift_);
            return words_[slot / 64] >> (slot % 64) & 1;
        }

     private:
        friend class PairBounds;
        unsigned shift_ = 0;
        std::vector<std::uint64_t> words_;
    };

    // 2^bits slots. Each thread adds to a table of its own.
    PairBounds(unsigned bits, std::size_t threads) : shift_(64 - bits) {
        for (std::size_t i = 0; i < threads; ++i) tables_.emplace_back(size());
    }

    void prefetch(std::size_t thread, Id left, Id right) const {
        __builtin_prefetch(tables_[thread].data() + slot_of(left, right, shift_), 1);
    }
    void add(std::size_t thread, Id left, Id right, std::uint64_t count) {
        std::uint64_t& slot = tables_[thread].data()[slot_of(left, right, shift_)];
        // A sum that overflows stays at the maximum, which is an upper bound as well.
        if (__builtin_add_overflow(slot, count, &slot)) slot = kMost;
    }
    // Adds up the tables of all threads. Returns the highest bound.
    std::uint64_t finish() {
        std::vector<std::uint64_t> highest(kParts);
        for_each_on_threads(tables_.size(), kParts, [&](std::size_t part) {
            for (std::size_t i = size() / kParts * part; i < size() / kParts * (part + 1); ++i) {
                std::uint64_t& sum = tables_[0].data()[i];
                for (std::size_t other = 1; other < tables_.size(); ++other) {
                    if (__builtin_add_overflow(sum, tables_[other].data()[i], &sum)) sum = kMost;
                }
                highest[part] = std::max(highest[part], sum);
            }
        });
        return *std::max_element(highest.begin(), highest.end());
    }

    Filter at_least(std::uint64_t least) const {
        Filter filter;
        filter.shift_ = shift_;
        filter.words_.resize(size() / 64);
        for (std::size_t i = 0; i < size(); ++i) {
            filter.words_[i / 64] |= std::uint64_t{tables_[0].data()[i] >= least} << (i % 64);
        }
        return filter;
    }

 private:
    static constexpr std::uint64_t kMost = std::numeric_limits<std::uint64_t>::max();
    static constexpr std::size_t kParts = 16;

    static std::size_t slot_of(Id left, Id right, unsigned shift) {
        return hash_word(pair_key(left, right)) >> shift;
    }
    std::size_t size() const { return std::size_t{1} << (64 - shift_); }

    unsigned shift_;
    std::vector<HugePageArray<std::uint64_t>> tables_;
};

}  // namespace toksmith::bpe

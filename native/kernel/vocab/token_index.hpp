// A hash table from the bytes of a token to its id.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "base/hash.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith {

class TokenIndex {
 public:
    TokenIndex() = default;

    // If tokens are equal, find() returns the lowest id.
    explicit TokenIndex(const Vocabulary& vocabulary) {
        std::size_t slots = 16;
        while (slots < vocabulary.size() * 2) slots *= 2;
        slots_.assign(slots, Slot{0, kNone});
        // Prefetches the slots, since consecutive tokens hash to distant ones.
        constexpr std::size_t kAhead = 16;
        std::array<std::uint64_t, kAhead> hashes;
        for (std::size_t i = 0; i < vocabulary.size() + kAhead; ++i) {
            if (i >= kAhead) insert(vocabulary, static_cast<Id>(i - kAhead), hashes[i % kAhead]);
            if (i >= vocabulary.size()) continue;
            const std::string_view token = vocabulary[static_cast<Id>(i)];
            hashes[i % kAhead] = hash_bytes(bytes_of(token), token.size());
            __builtin_prefetch(&slots_[hashes[i % kAhead] & (slots - 1)], 1);
        }
    }

    // The number of distinct tokens.
    std::size_t size() const { return size_; }

    static constexpr Id kNone = 0xFFFFFFFFu;

    // The id of the token with these bytes, or kNone. `vocabulary` must be the one passed to the
    // constructor.
    Id find(const Vocabulary& vocabulary, const std::uint8_t* bytes, std::size_t size) const {
        if (size > longest_) return kNone;
        return slots_[place(vocabulary, bytes, size, hash_bytes(bytes, size))].id;
    }

 private:
    struct Slot {
        std::uint32_t hash;  // the upper half of the hash
        Id id;
    };

    static std::uint32_t upper(std::uint64_t hash) {
        return static_cast<std::uint32_t>(hash >> 32);
    }

    static const std::uint8_t* bytes_of(std::string_view token) {
        return reinterpret_cast<const std::uint8_t*>(token.data());
    }

    void insert(const Vocabulary& vocabulary, Id id, std::uint64_t hash) {
        const std::string_view token = vocabulary[id];
        if (token.empty()) return;
        Slot& slot = slots_[place(vocabulary, bytes_of(token), token.size(), hash)];
        if (slot.id == kNone) {
            slot = {upper(hash), id};
            ++size_;
        }
        if (token.size() > longest_) longest_ = token.size();
    }

    std::size_t place(const Vocabulary& vocabulary, const std::uint8_t* bytes, std::size_t size,
                      std::uint64_t hash) const {
        const std::size_t mask = slots_.size() - 1;
        std::size_t i = hash & mask;
        for (; slots_[i].id != kNone; i = (i + 1) & mask) {
            if (slots_[i].hash != upper(hash)) continue;
            const std::string_view token = vocabulary[slots_[i].id];
            if (token.size() == size && std::memcmp(token.data(), bytes, size) == 0) break;
        }
        return i;
    }

    std::vector<Slot> slots_;
    std::size_t size_ = 0;
    std::size_t longest_ = 0;  // the longest token, in bytes; 0 if the index is empty
};

}  // namespace toksmith

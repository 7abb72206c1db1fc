// The tokens that only a whole chunk becomes: they are in the vocabulary, but no merges make them.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include "vocab/token_index.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith {

class WholeTokens {
 public:
    static constexpr Id kNone = TokenIndex::kNone;

    WholeTokens() = default;

    // `ids`: the ids of these tokens; they must have bytes.
    WholeTokens(const Vocabulary& vocabulary, std::vector<Id> ids) : ids_(std::move(ids)) {
        tokens_.offsets.push_back(0);
        for (const Id id : ids_) {
            const std::string_view token = vocabulary[id];
            tokens_.bytes.insert(tokens_.bytes.end(), token.begin(), token.end());
            tokens_.offsets.push_back(tokens_.bytes.size());
            longest_ = std::max(longest_, token.size());
            const std::size_t place = place_of(bytes_of(token), token.size());
            filter_[place / 64] |= std::uint64_t{1} << place % 64;
        }
        index_ = TokenIndex(tokens_);
    }

    bool empty() const { return ids_.empty(); }
    std::size_t size() const { return ids_.size(); }
    // The bytes of each of these tokens.
    std::string_view operator[](std::size_t i) const { return tokens_[static_cast<Id>(i)]; }

    // The id of the token with these bytes, or kNone. `size` must not be 0.
    Id find(const std::uint8_t* bytes, std::size_t size) const {
        if (size > longest_) return kNone;
        const std::size_t place = place_of(bytes, size);
        if ((filter_[place / 64] >> place % 64 & 1) == 0) [[likely]]
            return kNone;
        const Id found = index_.find(tokens_, bytes, size);
        return found == TokenIndex::kNone ? kNone : ids_[found];
    }

 private:
    static const std::uint8_t* bytes_of(std::string_view token) {
        return reinterpret_cast<const std::uint8_t*>(token.data());
    }
    // A place in the filter, by the size and the bytes at both ends and in the middle.
    static std::size_t place_of(const std::uint8_t* bytes, std::size_t size) {
        const std::size_t ends = bytes[0] | bytes[size / 2] << 8 | bytes[size - 1] << 16;
        return ((ends << 8 ^ size) * 0x9E3779B97F4A7C15ULL >> 32) % kPlaces;
    }

    static constexpr std::size_t kPlaces = std::size_t{1} << 14;

    std::size_t longest_ = 0;                           // bytes of the longest of these tokens
    std::array<std::uint64_t, kPlaces / 64> filter_{};  // a bit for each place with a token
    Vocabulary tokens_;
    TokenIndex index_;
    std::vector<Id> ids_;
};

}  // namespace toksmith

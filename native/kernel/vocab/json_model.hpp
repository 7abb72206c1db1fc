// Reads the vocabulary and the merges out of a tokenizer.json.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "vocab/token_index.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith {

class JsonModel {
 public:
    // Returns nothing unless the file is UTF-8 and its model has one vocabulary, of distinct tokens
    // with distinct ids that are not far above their number, and merges whose tokens have ids, none
    // of them twice. Other files have to be read with messages for what is wrong.
    static std::optional<JsonModel> read(std::string_view file);

    // The file with null in place of the vocabulary and the merges.
    const std::string& rest() const { return rest_; }
    // The number of tokens.
    std::size_t size() const { return index_.size(); }
    // By id; empty where there is none.
    const Vocabulary& tokens() const { return tokens_; }
    // The id of a token, or TokenIndex::kNone.
    Id find(std::string_view token) const {
        return index_.find(tokens_, reinterpret_cast<const std::uint8_t*>(token.data()),
                           token.size());
    }

    // The score of each piece, if the vocabulary is a list of pieces with scores.
    const std::optional<std::vector<double>>& scores() const { return scores_; }
    // The left, right and new id of each merge, one after the other, if there are merges.
    const std::optional<std::vector<Id>>& merges() const { return merges_; }
    // Whether a merge takes or makes this token.
    bool is_merged(Id id) const { return id < is_merged_.size() && is_merged_[id]; }

    // The tokens as the bytes that they spell in GPT-2's alphabet, up to the last that is not
    // empty. Those of `dropped` become empty. Returns nothing if another token spells no bytes.
    std::optional<Vocabulary> spelled_bytes(const std::vector<Id>& dropped) const;

 private:
    class Reader;

    std::string rest_;
    Vocabulary tokens_{{}, {0}};
    TokenIndex index_;
    std::optional<std::vector<double>> scores_;
    std::optional<std::vector<Id>> merges_;
    std::vector<bool> is_merged_;
};

}  // namespace toksmith

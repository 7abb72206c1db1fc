// SentencePiece's BPE: two neighbours merge if their concatenation is a piece, the highest score
// first.
//
// Any two neighbours may form a piece, but for each piece only one pair ever does. As long as no
// merge crosses the ends of a piece, its characters merge as they would alone. So just before the
// piece is made, its characters have merged to the two symbols that they merge to without it.
// Merging therefore needs only a table with one pair per piece, and an unused piece is split by
// going back to its pair.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "models/bpe/lane_merge_table.hpp"
#include "models/bpe/symbols.hpp"
#include "models/model.hpp"
#include "vocab/byte_trie.hpp"
#include "vocab/code_point_table.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {

class SentencePieceModel final : public Model {
 public:
    static constexpr Id kNone = CodePointTable::kNone;

    // Throws std::invalid_argument if the arrays do not fit, or byte_fallback lacks the piece of a
    // byte. Without an unknown piece (`unk` is kNone), unknown characters are dropped.
    SentencePieceModel(const Vocabulary& vocabulary, const std::vector<float>& scores,
                       const std::vector<std::uint8_t>& types, Id unk, bool byte_fallback);

    std::unique_ptr<Model::Scratch> scratch() const override;
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                      IdArray& out, IdArray* spans) const override;
    std::vector<LaneMergeRule> lane_rules() const override { return lane_rules_; }
    std::optional<Id> lane_symbol(const std::uint8_t* character, std::size_t size) const override;

 private:
    struct Scratch final : Model::Scratch {
        SymbolRun run;
        void trim(std::size_t bytes) override { run.trim(bytes); }
    };
    class Reader;
    class Rules;

    SentencePieceModel(Rules rules, const std::array<Id, 256>& bytes, Id unk, bool byte_fallback);

    Id unk_;
    bool byte_fallback_;
    std::vector<LaneMergeRule> lane_rules_;
    std::array<Id, 256> byte_ids_;
    // The symbol of each character that occurs in a piece: the id of its piece, or else a number
    // above all ids.
    CodePointTable characters_;
    std::vector<bool> known_;                          // by symbol: whether it is a token
    std::unordered_map<Id, std::pair<Id, Id>> parts_;  // the two halves of each unused piece
    std::vector<std::uint32_t> lengths_;               // of each symbol, in bytes
    SymbolPairs pairs_;
    static constexpr std::uint32_t kAscii = 128;
    std::vector<Merge> ascii_pairs_;  // the merges of ASCII characters, which are looked up most
    ByteTrie user_defined_;
    std::array<bool, 256> starts_user_defined_{};  // by first byte
};

}  // namespace toksmith::bpe

// SentencePiece's BPE: neighbours merge where together they make a piece, the best score first.
//
// Any neighbours may make a piece, but for each piece there is only one pair that ever does: as
// long as nothing merges across the ends of a piece, what happens between them is what happens to
// its characters alone, so just before the piece is made, the two symbols stand there that its
// characters come down to without it. So a table of one pair a piece is all that merging needs;
// and to take an unused piece apart again is to go back to its pair.
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

    // Throws std::invalid_argument where the arrays do not fit, or byte_fallback lacks a byte.
    // Without an unknown piece (kNone), what is unknown becomes nothing.
    SentencePieceModel(const Vocabulary& vocabulary, const std::vector<float>& scores,
                       const std::vector<std::uint8_t>& types, Id unk, bool byte_fallback);

    std::unique_ptr<Model::Scratch> scratch() const override;
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                      IdArray& out, IdArray* spans) const override;
    const std::vector<LaneMergeRule>* lane_rules() const override { return &lane_rules_; }
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
    // The symbol of each character that stands in a piece: the piece that it is, or a number
    // behind all ids.
    CodePointTable characters_;
    std::vector<bool> known_;  // of each symbol, whether it is a token as it stands
    std::unordered_map<Id, std::pair<Id, Id>> parts_;  // of each unused piece that can be made
    std::vector<std::uint32_t> lengths_;               // of each symbol in bytes
    SymbolPairs pairs_;
    static constexpr std::uint32_t kAscii = 128;
    std::vector<Merge> ascii_pairs_;  // of each two characters of ASCII, which are asked for most
    ByteTrie user_defined_;
    std::array<bool, 256> starts_user_defined_{};  // by first byte
};

}  // namespace toksmith::bpe

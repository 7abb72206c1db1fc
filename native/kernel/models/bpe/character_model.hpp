// BPE on characters with a list of merges, as the tokenizers library implements it.
#pragma once

#include <array>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/bpe/lane_merge_table.hpp"
#include "models/bpe/model.hpp"
#include "models/bpe/symbols.hpp"
#include "models/model.hpp"
#include "vocab/code_point_table.hpp"
#include "vocab/token_index.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {

class CharacterModel final : public Model {
 public:
    static constexpr Id kNone = CodePointTable::kNone;

    struct Options {
        Id unk = kNone;  // kNone: unknown characters are dropped
        bool fuse_unk = false;
        bool byte_fallback = false;
        std::string prefix = {};  // part of the token of each character of a chunk but the first
        std::string suffix = {};  // part of the token of the last character of a chunk
        bool whole_chunk_first = false;
    };

    // Throws std::invalid_argument if the merges do not fit the vocabulary.
    CharacterModel(Vocabulary vocabulary, const std::vector<MergeRule>& merges, Options options);

    std::unique_ptr<Model::Scratch> scratch() const override;
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                      IdArray& out, IdArray* spans) const override;
    std::vector<LaneMergeRule> lane_rules() const override;
    std::optional<Id> lane_symbol(const std::uint8_t* character, std::size_t size) const override;

 private:
    struct Span {
        std::uint32_t start, end;
    };
    struct Scratch final : Model::Scratch {
        SymbolRun run;
        std::vector<Span> spans;  // one for each symbol of the run
        void trim(std::size_t bytes) override {
            run.trim(bytes);
            Model::Scratch::trim(spans, bytes);
        }
    };
    class Reader;

    SymbolPairs pairs_of(const std::vector<MergeRule>& merges);
    // Whether merges make only texts of characters: each token is the text of its two sides, none
    // of which is a byte token or the unknown token.
    bool merges_characters(const std::vector<MergeRule>& merges) const;
    // Writes the symbols of the characters of a token. Returns false if one has no token.
    bool spell(Id id, std::vector<Id>& symbols) const;

    Vocabulary vocabulary_;
    Options options_;
    std::array<Id, 256> byte_ids_;
    // Symbols by code point, each for one position in the chunk: middle, first, last, only one.
    std::array<CodePointTable, 4> characters_;
    SymbolPairs pairs_;
    bool merges_characters_;
    TokenIndex whole_;  // empty unless a whole chunk is looked up before merging
};

}  // namespace toksmith::bpe

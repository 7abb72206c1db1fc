// A model fused with the normalizer and splitter before it. They run on a cache miss, chunk by
// chunk, so their cost is paid once for each distinct chunk.
#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "fused/origins.hpp"
#include "models/bpe/lane_merge_table.hpp"
#include "models/model.hpp"
#include "models/unigram/lane_viterbi_table.hpp"
#include "split/character_table.hpp"
#include "split/cut_table.hpp"
#include "text/text.hpp"

namespace toksmith {

// How the splitter treats a character.
enum class Unit : std::uint8_t {
    kRemoved,  // is dropped, and ends a piece
    kAlone,    // is a piece by itself
    kStart,    // starts a piece
    kSpace,    // a space, if spaces collapse
    kRun,      // this and all higher values: a run of one class is a piece
};

// Whether a document gets a space before it (SentencePiece's dummy prefix).
enum class PrefixSpace : std::uint8_t {
    kNone,
    kAlways,       // a space is put before every document
    kUnlessSpace,  // unless it starts with a space
};

struct Stages {
    PrefixSpace prefix_space = PrefixSpace::kNone;
    bool collapse = false;  // several spaces become one
    bool trim = false;      // a space at the end of a text is dropped; no other chunk ends with one
    Origin origin = Origin::kOwn;
    // Runs the stages in Python on a chunk that has context-sensitive characters. Appends the
    // pieces, concatenated, and the end of each.
    std::function<void(const std::uint8_t* chunk, std::size_t size,
                       std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends)>
        fallback;
};

class FusedModel final : public Model, public CarriedScoreModel {
 public:
    FusedModel(std::shared_ptr<const Model> model, std::shared_ptr<const CharacterTable> table,
               std::shared_ptr<const CutTable> cut_table, Stages stages)
        : model_(std::move(model)),
          table_(std::move(table)),
          cut_table_(std::move(cut_table)),
          stages_(std::move(stages)) {
        for (std::uint32_t code = 0; code < ascii_.size(); ++code) ascii_[code] = single(code);
        if (const auto* rules = model_->lane_rules()) lane_merges_ = lane_merges_of(*rules);
        lane_viterbi_ = model_->make_lane_viterbi(lane_texts());
    }

    std::unique_ptr<Scratch> scratch() const override;
    // `spans` must be null: encode_with_spans() returns spans.
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, IdArray& out,
                      IdArray* spans) const override;
    const CutTable* cut_table() const override { return cut_table_.get(); }
    const bpe::LaneMergeTable* lane_merges() const override {
        return lane_merges_ ? &*lane_merges_ : nullptr;
    }
    const unigram::LaneViterbiTable* lane_viterbi() const override { return lane_viterbi_.get(); }
    bool needs_prefix_space(const std::uint8_t* begin, const std::uint8_t* end) const override;

    const CarriedScoreModel* carrier() const override { return model_->carrier() ? this : nullptr; }
    ScoreBound encode_with_bound(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                                 IdArray& out) const override;
    float add(float sum, const Id* ids, std::size_t count) const override {
        return model_->carrier()->add(sum, ids, count);
    }
    void encode_after_sum(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, float& sum,
                          IdArray& out, IdArray* spans) const override;

    // Appends the ids of a text and, to `spans`, the start and end of each token in the text, in
    // bytes. `starts`: whether the text is the start of its document. Returns false if some chunk
    // is context-sensitive; then only the stages themselves know the spans.
    bool encode_with_spans(Text text, bool starts, IdArray& out,
                           std::vector<std::int64_t>& spans) const;

 private:
    class Piece;
    struct Buffers;

    // A character that becomes at most one character, in any context.
    struct Single {
        std::array<std::uint8_t, 4> bytes;
        std::uint8_t size;
        Unit unit;
        bool told;  // whether the character is one
    };
    Single single(std::uint32_t code) const;
    // The merges for vector lanes, over bytes that become one character in any context.
    std::optional<bpe::LaneMergeTable> lane_merges_of(
        const std::vector<bpe::LaneMergeRule>& rules) const;
    // The normalized bytes of chunks that map_single_pieces() accepts, where a space can only be
    // first.
    unigram::LaneTexts lane_texts() const;
    // The first class of the splitter that a byte of ASCII belongs to; kRemoved if there is none.
    Unit run_of_ascii() const;

    // Normalizes a chunk of single characters that the splitter does not cut. Returns false for any
    // other chunk. This is a fast path of make_pieces().
    bool map_single_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece) const;
    // Calls with_piece(piece, size) for each piece of the chunk, from left to right.
    template <typename WithPiece>
    void for_each_piece(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                        WithPiece with_piece) const;
    // The same for a chunk without context-sensitive characters. `origins` records where the
    // characters of a piece came from.
    template <typename Told, typename WithPiece>
    void make_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece, Told& origins,
                     WithPiece with_piece) const;
    // Whether the chunk has context-sensitive characters; whether its spans can be computed.
    bool is_context_sensitive(const std::uint8_t* chunk, std::size_t size) const;
    bool tells_origins(const std::uint8_t* chunk, std::size_t size) const;

    std::shared_ptr<const Model> model_;
    std::shared_ptr<const CharacterTable> table_;
    std::shared_ptr<const CutTable> cut_table_;
    Stages stages_;
    std::array<Single, 128> ascii_;
    std::optional<bpe::LaneMergeTable> lane_merges_;
    std::unique_ptr<unigram::LaneViterbiTable> lane_viterbi_;
};

}  // namespace toksmith

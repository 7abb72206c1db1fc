// A model fused with the normalizer and the splitter before it, called "stages". They run on a
// cache miss, chunk by chunk, so their cost is paid once per distinct chunk. A piece is a part of
// the normalized chunk that the splitter passes to the model.
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

// How the splitter treats a normalized character.
enum class Unit : std::uint8_t {
    kRemoved,  // dropped, and ends a piece
    kAlone,    // a piece by itself
    kStart,    // starts a piece
    kSpace,    // a space, if spaces collapse
    kRun,      // this and higher values are classes: adjacent characters of one class are a piece
};

static_assert(static_cast<std::uint8_t>(Unit::kRun) == CharacterTable::kPlainUnit);

// Whether a space is inserted before a document (SentencePiece's dummy prefix).
enum class PrefixSpace : std::uint8_t {
    kNone,
    kAlways,       // before every document
    kUnlessSpace,  // unless the document starts with a space
};

struct Stages {
    PrefixSpace prefix_space = PrefixSpace::kNone;
    bool collapse = false;  // several spaces in a row become one
    bool trim = false;      // drops a space at the end of a text; no other chunk ends with one
    Origin origin = Origin::kOwn;
    // Each piece starts with a space that replaces the dropped spaces before it; it has the origin
    // of the next character.
    bool space_precedes_piece = false;
    // Runs the stages in Python on a chunk with context-sensitive characters. Appends the
    // concatenated pieces and the end of each.
    std::function<void(const std::uint8_t* chunk, std::size_t size,
                       std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends)>
        fallback;
    // The same with the origins of all characters of the pieces, concatenated. `prefixed`: the
    // first byte of the chunk is an inserted space.
    std::function<void(const std::uint8_t* chunk, std::size_t size, bool prefixed,
                       std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends,
                       std::vector<ByteRange>& origins)>
        fallback_with_origins;
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
        if (auto rules = model_->lane_rules(); !rules.empty())
            lane_merges_ = lane_merges_of(std::move(rules));
        lane_viterbi_ = model_->make_lane_viterbi(lane_texts());
    }

    std::unique_ptr<Scratch> scratch() const override;
    // `spans` must be null: use encode_with_spans() or SpanModel instead.
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

    // Appends the ids of a chunk and, to `spans`, the start and end of each token in the chunk, in
    // bytes. `prefixed`: its first byte is an inserted space. `sum`: see encode_after_sum(); null
    // if the model carries none.
    void encode_with_spans(const std::uint8_t* chunk, std::size_t size, bool prefixed,
                           Scratch& scratch, float* sum, IdArray& out, IdArray& spans) const;
    // With Origin::kShifted, false for a text whose first character may become nothing.
    bool has_known_origins(const std::uint8_t* begin, const std::uint8_t* end) const override;

 private:
    class Piece;
    struct Buffers;

    // The normalized form of a character that becomes at most one character in any context.
    struct Single {
        std::array<std::uint8_t, 4> bytes;
        std::uint8_t size;
        Unit unit;
        bool is_single;  // false: it becomes more, or depends on its neighbours
    };
    Single single(std::uint32_t code) const;
    // The merges for vector lanes, for the bytes that become one character in any context.
    std::optional<bpe::LaneMergeTable> lane_merges_of(std::vector<bpe::LaneMergeRule> rules) const;
    // How the bytes of chunks are normalized that map_single_pieces() accepts and that contain no
    // space except at the start.
    unigram::LaneTexts lane_texts() const;
    // The class of the first ASCII character that has one (see Unit::kRun); kRemoved if none has.
    Unit run_of_ascii() const;

    // Normalizes a chunk that consists of such single characters and is one piece. Returns false
    // for any other chunk. A fast path of make_pieces().
    bool map_single_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece) const;
    // Calls with_piece(bytes, size) for each piece of the chunk, from left to right.
    template <typename WithPiece>
    void for_each_piece(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                        WithPiece with_piece) const;
    // The same for a chunk without context-sensitive characters. `origins` records the origin of
    // each normalized character.
    template <typename OriginRecorder, typename WithPiece>
    void make_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece,
                     OriginRecorder& origins, WithPiece with_piece) const;
    bool is_context_sensitive(const std::uint8_t* chunk, std::size_t size) const;
    bool drops_characters(const std::uint8_t* chunk, std::size_t size) const;
    template <typename Test>
    bool any_row(const std::uint8_t* chunk, std::size_t size, Test test) const;

    std::shared_ptr<const Model> model_;
    std::shared_ptr<const CharacterTable> table_;
    std::shared_ptr<const CutTable> cut_table_;
    Stages stages_;
    std::array<Single, 128> ascii_;
    std::optional<bpe::LaneMergeTable> lane_merges_;
    std::unique_ptr<unigram::LaneViterbiTable> lane_viterbi_;
};

}  // namespace toksmith

// A model together with the stages before it: normalizer and splitter run on a miss, chunk by
// chunk, so that what they cost is paid once for each distinct chunk.
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

// What becomes of a character when the splitter cuts.
enum class Unit : std::uint8_t {
    kRemoved,  // belongs to no piece, and ends one
    kAlone,    // is a piece
    kStart,    // starts a piece
    kSpace,    // a space, where spaces are collapsed
    kRun,      // this and all further classes: a run of the same class is one piece
};

// How a document begins.
enum class PrefixSpace : std::uint8_t {
    kNone,
    kAlways,       // with a space before it
    kUnlessSpace,  // with a space, unless it starts with one
};

struct Stages {
    PrefixSpace prefix_space = PrefixSpace::kNone;
    bool collapse = false;  // make one of several spaces
    bool trim = false;      // leave no space at the end; chunks end with one only there
    Origin origin = Origin::kOwn;
    // What the stages make of a chunk in which neighbours matter: the pieces end to end, and where
    // each ends.
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
    // Gives no spans: `spans` must be null. What a chunk stands for is told by encode_with_spans().
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

    // The ids of a text, and in `spans` two numbers a token: which bytes of the text it stands for.
    // `starts`: whether the text is the start of its document. False where more than its characters
    // has a say in what it stands for: then all is to be asked of the stages themselves.
    bool encode_with_spans(Text text, bool starts, IdArray& out,
                           std::vector<std::int64_t>& spans) const;

 private:
    class Piece;
    struct Buffers;

    // A character that becomes at most one, of few bytes.
    struct Single {
        std::array<std::uint8_t, 4> bytes;
        std::uint8_t size;
        Unit unit;
        bool told;  // whether it is such a character
    };
    Single single(std::uint32_t code) const;
    // By what chunks can be merged side by side: of bytes that become one character, whatever
    // stands beside them.
    std::optional<bpe::LaneMergeTable> lane_merges_of(
        const std::vector<bpe::LaneMergeRule>& rules) const;
    // What bytes become in chunks of which map_single_pieces() makes one piece: a space stands
    // first.
    unigram::LaneTexts lane_texts() const;
    // The first class of the splitter that bytes belong to; kRemoved where there is none.
    Unit run_of_ascii() const;

    // Puts a chunk of single characters that the splitter does not cut into one piece. False where
    // it is no such chunk.
    bool map_single_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece) const;
    // Calls with_piece(piece, size) for each piece of the chunk, from left to right.
    template <typename WithPiece>
    void for_each_piece(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                        WithPiece with_piece) const;
    // The same of a chunk in which neighbours do not matter; `origins` is told where the piece's
    // characters came from.
    template <typename Told, typename WithPiece>
    void make_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece, Told& origins,
                     WithPiece with_piece) const;
    // Whether neighbours matter in it; whether its characters tell what they stand for.
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

// Unigram: the most probable segmentation of a chunk into pieces (Kudo 2018).
//
// Viterbi from left to right over the bytes. Each place keeps the best path up to it.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <type_traits>
#include <vector>

#include "models/model.hpp"
#include "models/unigram/lane_viterbi_table.hpp"
#include "models/unigram/score_bound.hpp"
#include "vocab/byte_trie.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::unigram {

inline constexpr Id kNone = ByteTrie::kNone;

// The longest chunk, in bytes, that viterbi_short() segments.
inline constexpr std::size_t kShort = 60;

struct Options {
    Id unk = kNone;
    bool byte_fallback = false;
    bool fuse_unk = true;
};

// Real is float for SentencePiece's results. It is double for those of the tokenizers library,
// where all pieces are text, and fused unknown characters are looked up once more.
template <typename Real>
class UnigramModel final : public Model, public CarriedScoreModel {
 public:
    // Throws std::invalid_argument if the arrays do not fit, or byte_fallback lacks the piece of a
    // byte.
    UnigramModel(const Vocabulary& vocabulary, const std::vector<double>& scores,
                 const std::vector<std::uint8_t>& types, Options options);

    std::unique_ptr<Model::Scratch> scratch() const override;
    // Throws UnknownText for an unknown character if there is no unknown piece.
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                      IdArray& out, IdArray* spans) const override;

    // Null for tokenizers' rules, and if the scores are too low for viterbi_short().
    std::unique_ptr<LaneViterbiTable> make_lane_viterbi(const LaneTexts& texts) const override;

    // Rounding makes the ids depend on the sum at the start of the chunk. They are valid for all
    // sums up to a bound that follows from the gap between the best and the second-best path.
    const CarriedScoreModel* carrier() const override {
        // Only with SentencePiece's rules is a whole document one sequence: no pre-tokenizer splits
        // it.
        return std::is_same_v<Real, float> ? this : nullptr;
    }
    ScoreBound encode_with_bound(const std::uint8_t* chunk, std::size_t size,
                                 Model::Scratch& scratch, IdArray& out) const override;
    float add(float sum, const Id* ids, std::size_t count) const override;
    void encode_after_sum(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                          float& sum, IdArray& out, IdArray* spans) const override;

 private:
    // The best path up to a place: its sum, and its last piece. Length 0: no path reaches it yet.
    struct Cell {
        Real score;
        Real second;  // the sum of the second-best path
        std::uint32_t length;
        Id id;
    };
    struct Scratch final : Model::Scratch {
        std::vector<Cell> cells;
        std::vector<std::uint32_t> path;
        void trim(std::size_t bytes) override {
            Model::Scratch::trim(cells, bytes);
            Model::Scratch::trim(path, bytes);
        }
    };
    class Writer;
    // Finds the best path through the chunk and writes its ids. Returns the sum after the chunk.
    Real viterbi(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch, Real sum,
                 IdArray& out, IdArray* spans, Margin<Real>* margin) const;

    // The same for a short chunk, if the sum before it is so small that it is not reset; only for
    // float.
    Real viterbi_short(const std::uint8_t* text, std::size_t size, Real sum, IdArray& out,
                       IdArray* spans, Margin<Real>* margin) const;
    void prepare_for_short();
    Costs costs() const {
        const auto highest = static_cast<double>(highest_score_);
        return {static_cast<double>(unknown_score_), highest, -1 / highest};
    }

    ByteTrie trie_;
    std::vector<Real> place_scores_;  // by place in the trie; -infinity where no token ends
    Real most_before_short_ = -1;
    std::vector<Real> scores_;
    bool any_above_zero_ = false;  // some score is above 0
    Real unknown_score_;
    // Whether scores_[unk] is the score of one unknown character.
    bool sums_unknown_ = false;
    Real highest_score_ = -std::numeric_limits<Real>::infinity();  // of any piece that matches text
    std::size_t longest_ = 4;  // the longest piece or unknown character, in bytes
    std::array<Id, 256> byte_ids_;
    Options options_;
};

template <>
void UnigramModel<float>::prepare_for_short();
template <>
std::unique_ptr<LaneViterbiTable> UnigramModel<float>::make_lane_viterbi(
    const LaneTexts& texts) const;
template <>
std::unique_ptr<LaneViterbiTable> UnigramModel<double>::make_lane_viterbi(
    const LaneTexts& texts) const;
template <>
float UnigramModel<float>::viterbi_short(const std::uint8_t* text, std::size_t size, float sum,
                                         IdArray& out, IdArray* spans, Margin<float>* margin) const;

extern template class UnigramModel<float>;
extern template class UnigramModel<double>;

}  // namespace toksmith::unigram

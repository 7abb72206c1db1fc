// Unigram: the most probable way to put a chunk together from pieces (Kudo 2018).
//
// Viterbi, from left to right over the bytes: each place knows the best way to it.
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

// Chunks of at most so many bytes are short.
inline constexpr std::size_t kShort = 60;

struct Options {
    Id unk = kNone;
    bool byte_fallback = false;
    bool fuse_unk = true;
};

// Real: float with SentencePiece's rules, double with those of tokenizers: all pieces are text,
// and unknown characters that were fused are looked up once more.
template <typename Real>
class UnigramModel final : public Model, public CarriedScoreModel {
 public:
    // Throws std::invalid_argument where the arrays do not fit, or byte_fallback lacks a byte.
    UnigramModel(const Vocabulary& vocabulary, const std::vector<double>& scores,
                 const std::vector<std::uint8_t>& types, Options options);

    std::unique_ptr<Model::Scratch> scratch() const override;
    // Throws UnknownText where nothing stands for a character.
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                      IdArray& out, IdArray* spans) const override;

    // Null for those of tokenizers, and where run_short() never runs.
    std::unique_ptr<LaneViterbiTable> make_lane_viterbi(const LaneTexts& texts) const override;

    // What rounding decides depends on the sum at the start of the chunk; how close the second
    // best way comes to the best one tells for which sums it cannot decide.
    const CarriedScoreModel* carrier() const override {
        return std::is_same_v<Real, float> ? this : nullptr;  // where nothing else splits the text
    }
    ScoreBound encode_with_bound(const std::uint8_t* chunk, std::size_t size,
                                 Model::Scratch& scratch, IdArray& out) const override;
    float add(float sum, const Id* ids, std::size_t count) const override;
    void encode_after_sum(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                          float& sum, IdArray& out, IdArray* spans) const override;

 private:
    // The best way to a place: its sum, and its last piece. No length: no way is known.
    struct Cell {
        Real score;
        Real second;  // the sum of the next best
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
    // Returns the sum at the end.
    Real run(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch, Real sum,
             IdArray& out, IdArray* spans, Margin<Real>* margin) const;

    // The same for a short chunk, behind a sum so small that it does not start anew; of floats
    // alone.
    Real run_short(const std::uint8_t* text, std::size_t size, Real sum, IdArray& out,
                   IdArray* spans, Margin<Real>* margin) const;
    void prepare_for_short();
    Costs costs() const {
        const auto highest = static_cast<double>(highest_score_);
        return {static_cast<double>(unknown_score_), highest, -1 / highest};
    }

    ByteTrie trie_;
    std::vector<Real> place_scores_;  // by place of the trie; where no token ends, no way leads
    Real most_before_short_ = -1;
    std::vector<Real> scores_;
    bool any_above_zero_ = false;  // of them
    Real unknown_score_;
    bool sums_unknown_ = false;  // the unknown piece's own score is that of one unknown character
    Real highest_score_ = -std::numeric_limits<Real>::infinity();  // of any piece of text
    std::size_t longest_ = 4;  // of the pieces and of an unknown character, in bytes
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
float UnigramModel<float>::run_short(const std::uint8_t* text, std::size_t size, float sum,
                                     IdArray& out, IdArray* spans, Margin<float>* margin) const;

extern template class UnigramModel<float>;
extern template class UnigramModel<double>;

}  // namespace toksmith::unigram

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

#include "bpe/vocabulary.hpp"
#include "encode/model.hpp"
#include "trie/byte_trie.hpp"

namespace toksmith::unigram {

inline constexpr Id kNone = ByteTrie::kNone;

// When the sum of the best way to a place is further from 0 than this, SentencePiece starts anew
// from 0 there.
inline constexpr double kFar = 100'000;

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
class UnigramModel final : public Model, public Carrier {
 public:
    // Throws std::invalid_argument where the arrays do not fit, or byte_fallback lacks a byte.
    UnigramModel(const bpe::Vocabulary& vocabulary, const std::vector<double>& scores,
                 const std::vector<std::uint8_t>& types, Options options);

    std::unique_ptr<Model::Scratch> scratch() const override;
    // Throws UnknownText where nothing stands for a character.
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                      Ids& out, Ids* spans) const override;

    // What rounding decides depends on the sum at the start of the chunk; how close the second
    // best way comes to the best one tells for which sums it cannot decide.
    const Carrier* carrier() const override {
        return std::is_same_v<Real, float> ? this : nullptr;  // where nothing else splits the text
    }
    Reliance encode_relying(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                            Ids& out) const override;
    float add(float sum, const Id* ids, std::size_t count) const override;
    void encode_behind(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                       float& sum, Ids& out) const override;

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
    };
    class Writer;
    // How sure a best way is.
    struct Margin {
        Real gap;              // the least by which it was better where it stands
        Real weight = 0;       // the sum of its scores, each away from 0
        Real deepest = 0;      // of the best sums before the characters, away from 0
        bool summable = true;  // whether add() tells its sum
        bool whole = true;     // the sum never started anew
        std::size_t characters = 0;

        void add(Real ahead, Real score, bool sums) {
            gap = std::min(gap, ahead);
            weight += std::abs(score);
            summable &= sums;
        }
    };
    // Returns the sum at the end.
    Real run(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch, Real sum,
             Ids& out, Ids* spans, Margin* margin) const;

    // The same for a short chunk, behind a sum so small that it does not start anew; of floats
    // alone.
    Real run_short(const std::uint8_t* text, std::size_t size, Real sum, Ids& out, Ids* spans,
                   Margin* margin) const;
    void prepare_for_short();

    ByteTrie trie_;
    std::vector<Real> place_scores_;  // by place of the trie; where no token ends, no way leads
    Real most_before_short_ = -1;
    std::vector<Real> scores_;
    Real unknown_score_;
    bool sums_unknown_ = false;  // the unknown piece's own score is that of one unknown character
    Real highest_score_ = -std::numeric_limits<Real>::infinity();  // of any piece of text
    double pieces_per_cost_ = 0;                                   // at most, where that is below 0
    std::size_t longest_ = 4;  // of the pieces and of an unknown character, in bytes
    std::array<Id, 256> byte_ids_;
    Options options_;
};

template <>
void UnigramModel<float>::prepare_for_short();
template <>
float UnigramModel<float>::run_short(const std::uint8_t* text, std::size_t size, float sum,
                                     Ids& out, Ids* spans, Margin* margin) const;

extern template class UnigramModel<float>;
extern template class UnigramModel<double>;

}  // namespace toksmith::unigram

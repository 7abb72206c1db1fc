// Unigram: the most probable way to put a chunk together from pieces (Kudo 2018).
//
// Viterbi, from left to right over the bytes: each place knows the best way to it. Where no piece
// that was found reaches across a place, the way up to there is settled and written out; so the
// memory is that of the longest stretch without such a place, and mostly a few cells.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "bpe/vocabulary.hpp"
#include "encode/model.hpp"
#include "trie/byte_trie.hpp"

namespace toksmith::unigram {

inline constexpr Id kNone = ByteTrie::kNone;

struct Options {
    Id unk = kNone;
    bool byte_fallback = false;
    bool fuse_unk = true;
};

// Real: float with SentencePiece's rules, double with those of tokenizers: all pieces are text,
// and unknown characters that were fused are looked up once more.
template <typename Real>
class UnigramModel final : public Model {
 public:
    // Throws std::invalid_argument where the arrays do not fit, or byte_fallback lacks a byte.
    UnigramModel(const bpe::Vocabulary& vocabulary, const std::vector<double>& scores,
                 const std::vector<std::uint8_t>& types, Options options);

    std::unique_ptr<Model::Scratch> scratch() const override;
    // Throws UnknownText where nothing stands for a character.
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Model::Scratch& scratch,
                      Ids& out, Ids* spans) const override;

 private:
    // The best way to a place: its sum, and its last piece. No length: no way is known.
    struct Cell {
        Real score;
        std::uint32_t length;
        Id id;
    };
    struct Scratch final : Model::Scratch {
        std::vector<Cell> cells;
        std::vector<std::uint32_t> path;
    };
    class Writer;

    ByteTrie trie_;
    std::vector<Real> scores_;
    Real unknown_score_;
    std::size_t longest_ = 4;  // of the pieces and of an unknown character, in bytes
    std::array<Id, 256> byte_ids_;
    Options options_;
};

extern template class UnigramModel<float>;
extern template class UnigramModel<double>;

}  // namespace toksmith::unigram

// The interface of models: a model encodes one chunk to ids, on a cache miss.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <stdexcept>
#include <vector>

#include "base/id_array.hpp"

namespace toksmith {

class AdjacencyFilter;
class CutTable;
class WholeTokens;
struct Vocabulary;
namespace bpe {
class LaneMergeTable;
struct LaneMergeRule;
}  // namespace bpe
namespace unigram {
class LaneViterbiTable;
struct LaneTexts;
}  // namespace unigram

// Thrown for a text for which the model has no token, not even an unknown token.
struct UnknownText : std::runtime_error {
    // `start`: the offset of the character in its chunk, in bytes.
    UnknownText(const std::uint8_t* chunk, std::size_t size, std::size_t start);
};

// Throws std::length_error for a chunk of 4 GiB or more, since models store offsets in 32 bits.
inline void check_chunk_size(std::size_t size) {
    if (size < 0xFFFFFFFFu) [[likely]]
        return;
    throw std::length_error(
        "a chunk of 4 GiB or more cannot be encoded: split the text into documents, or use a split "
        "pattern");
}

class CarriedScoreModel;

class Model {
 public:
    // Buffers that a model keeps between calls. Each thread has its own.
    struct Scratch {
        virtual ~Scratch() = default;
        // Frees each buffer of more than the given size in bytes, so that one very long chunk does
        // not occupy memory for ever.
        virtual void trim(std::size_t) {}

     protected:
        template <typename T>
        static void trim(std::vector<T>& buffer, std::size_t bytes) {
            if (buffer.capacity() * sizeof(T) > bytes) buffer = std::vector<T>();
        }
    };

    virtual ~Model() = default;
    virtual std::unique_ptr<Scratch> scratch() const = 0;
    // Appends the ids of the chunk and, unless `spans` is null, the start and end of each token in
    // the chunk, in bytes. The ids are cached, so they must depend on the chunk alone. The chunk of
    // a text model is normally UTF-8, but other bytes must not make it fail.
    virtual void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                              IdArray& out, IdArray* spans) const = 0;

    // Finds the chunks for Family::kModel; null if the model needs a split pattern.
    virtual const CutTable* cut_table() const { return nullptr; }
    // Finds places inside a chunk where it may be cut without changing its ids; or null.
    virtual const AdjacencyFilter* adjacency_filter() const { return nullptr; }
    // Merges chunks in vector lanes if their bytes are in the table; or null.
    virtual const bpe::LaneMergeTable* lane_merges() const { return nullptr; }
    // The tokens that a whole chunk becomes although no merges make them, or null. The lanes do not
    // know them.
    virtual const WholeTokens* whole_tokens() const { return nullptr; }
    // For models of characters: the merges for vector lanes, if any; and the symbol of a character
    // in UTF-8. A character has a symbol only if it is a token that merges the same way everywhere,
    // or becomes a byte token, which never merges.
    virtual std::vector<bpe::LaneMergeRule> lane_rules() const;
    virtual std::optional<Id> lane_symbol(const std::uint8_t*, std::size_t) const { return {}; }
    // Segments short chunks in vector lanes; or null.
    virtual const unigram::LaneViterbiTable* lane_viterbi() const { return nullptr; }
    // The same for a Unigram model after a normalizer, which maps bytes to `texts`; or null.
    virtual std::unique_ptr<unigram::LaneViterbiTable> make_lane_viterbi(
        const unigram::LaneTexts&) const;
    // Not null if the ids of a chunk depend on a sum that is carried from chunk to chunk.
    virtual const CarriedScoreModel* carrier() const { return nullptr; }
    // Whether a space is inserted before a document that starts with this text.
    virtual bool needs_prefix_space(const std::uint8_t*, const std::uint8_t*) const {
        return false;
    }
    // The first byte of a chunk with such a space.
    virtual std::uint8_t prefix_byte() const { return ' '; }

    // Not null if tokens lie end to end in their text, each as long as its bytes here.
    virtual const Vocabulary* consecutive_tokens() const { return nullptr; }
    // Whether the output is records of spans instead of ids: see fused/span_records.hpp.
    virtual bool writes_records() const { return false; }
    // Whether the spans of a text that starts like this can be computed.
    virtual bool has_known_origins(const std::uint8_t*, const std::uint8_t*) const { return true; }
};

// A model whose ids depend on a float sum over the document.
//
// SentencePiece accumulates piece scores in one float32 from the start of the document. When two
// segmentations of a chunk score almost the same, rounding at the current magnitude decides between
// them, so the ids of a chunk depend on the sum before it. The cache stores the ids together with a
// bound: they are valid as long as |sum| <= `limit * kStep`. The chunk loop tracks only an upper
// bound of |sum|, to which each chunk adds `weight`; it computes the exact sum only when that bound
// exceeds the limit of an entry.
class CarriedScoreModel {
 public:
    // The sums for which the ids of a chunk are valid: |sum| <= `limit * kStep`, including this
    // chunk. `weight` is the most by which the chunk changes |sum|. Packed into the 24 bits of an
    // entry's tag.
    struct ScoreBound {
        std::uint32_t weight = 0;
        std::uint32_t limit = 0;  // 0: valid only for the sum with which they were computed
        bool is_additive = true;  // add() can compute the new sum from the ids

        static constexpr int kWeightBits = 11;
        static constexpr std::uint32_t kMostWeight = (1 << kWeightBits) - 1;
        static constexpr std::uint32_t kMostLimit = (1 << (23 - kWeightBits)) - 1;
        static constexpr std::uint32_t kStep = 32;
        // Whether the ids are valid if |sum| before the chunk is at most `bound`.
        bool valid_up_to(std::uint32_t bound) const { return bound + weight <= limit * kStep; }
        std::uint32_t packed() const { return !is_additive << 23 | limit << kWeightBits | weight; }
        static ScoreBound unpacked(std::uint32_t tag) {
            return {tag & kMostWeight, tag >> kWeightBits & kMostLimit, tag >> 23 == 0};
        }
        // limit * kStep; negative if the ids are not additive.
        static std::int32_t additive_limit(std::uint32_t tag) {
            constexpr int kSign = 32 - 24;
            return (static_cast<std::int32_t>(tag << kSign) >> (kWeightBits + kSign)) *
                   static_cast<std::int32_t>(kStep);
        }
    };

    virtual ~CarriedScoreModel() = default;
    // Appends the ids of a chunk and returns the sums for which they are valid.
    virtual ScoreBound encode_with_bound(const std::uint8_t* chunk, std::size_t size,
                                         Model::Scratch& scratch, IdArray& out) const = 0;
    // The sum after these ids, which must be additive.
    virtual float add(float sum, const Id* ids, std::size_t count) const = 0;
    // Appends the ids of a chunk for the exact `sum` before it, and updates `sum`. `spans`: see
    // encode_chunk().
    virtual void encode_after_sum(const std::uint8_t* chunk, std::size_t size,
                                  Model::Scratch& scratch, float& sum, IdArray& out,
                                  IdArray* spans) const = 0;
};

}  // namespace toksmith

// What the chunk loop asks of a model: the ids of one chunk that the cache does not hold.
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
namespace bpe {
class LaneMergeTable;
struct LaneMergeRule;
}  // namespace bpe
namespace unigram {
class LaneViterbiTable;
struct LaneTexts;
}  // namespace unigram

// Text that a model has no token for, not even an unknown one.
struct UnknownText : std::runtime_error {
    // `start`: of the character, in bytes from the start of its chunk.
    UnknownText(const std::uint8_t* chunk, std::size_t size, std::size_t start);
};

// Models count places in a chunk in 32 bits. Throws std::length_error for a chunk of 4 GiB or more.
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
    // Memory that a model may keep from one miss to the next; each thread has its own.
    struct Scratch {
        virtual ~Scratch() = default;
        // Frees each buffer of more bytes than the argument, such as one for a very long chunk.
        virtual void trim(std::size_t) {}

     protected:
        template <typename T>
        static void trim(std::vector<T>& buffer, std::size_t bytes) {
            if (buffer.capacity() * sizeof(T) > bytes) buffer = std::vector<T>();
        }
    };

    virtual ~Model() = default;
    virtual std::unique_ptr<Scratch> scratch() const = 0;
    // Appends the ids of the chunk and, unless `spans` is null, where what each stands for starts
    // and ends in the chunk: two numbers an id. The answer may depend on nothing but the chunk.
    // A model of text is given UTF-8, and must survive anything else.
    virtual void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                              IdArray& out, IdArray* spans) const = 0;

    // Where a text may be cut into chunks, for Family::kModel.
    virtual const CutTable* cut_table() const { return nullptr; }
    // Where chunks of a pattern may be cut further without changing an id, if the model tells.
    virtual const AdjacencyFilter* adjacency_filter() const { return nullptr; }
    // Not null where chunks whose bytes it knows can be merged by it, side by side.
    virtual const bpe::LaneMergeTable* lane_merges() const { return nullptr; }
    // Of a model of characters: null, or what merges the symbols of characters; and the symbol of
    // one in UTF-8, if it is a token itself and always merges so, or becomes a byte's token, which
    // merges with nothing.
    virtual const std::vector<bpe::LaneMergeRule>* lane_rules() const { return nullptr; }
    virtual std::optional<Id> lane_symbol(const std::uint8_t*, std::size_t) const { return {}; }
    // Not null where the best ways of some chunks can be found by it, side by side.
    virtual const unigram::LaneViterbiTable* lane_viterbi() const { return nullptr; }
    // Of a Unigram model: that, for chunks whose bytes become such texts; or null.
    virtual std::unique_ptr<unigram::LaneViterbiTable> make_lane_viterbi(
        const unigram::LaneTexts&) const;
    // Not null where the ids of a chunk depend on a sum that is carried from chunk to chunk.
    virtual const CarriedScoreModel* carrier() const { return nullptr; }
    // Whether a document that starts so is encoded as if a space stood before it.
    virtual bool needs_prefix_space(const std::uint8_t*, const std::uint8_t*) const {
        return false;
    }
};

// A model that adds numbers up from the start of the document, and rounds: of ways that are all but
// equal, the one it takes depends on how large the sum is already. Such close calls are rare, so
// the ids of a chunk are kept together with how large the sum may be.
class CarriedScoreModel {
 public:
    // Of the ids of a chunk, in 24 bits. Behind sums up to kStep times `limit` that count the
    // chunk in, away from 0, they are right; `weight` is the most by which the chunk moves the sum.
    struct ScoreBound {
        std::uint32_t weight = 0;
        std::uint32_t limit = 0;  // 0: they are never to be relied on
        bool is_additive = true;  // whether add() tells by how much they move the sum

        static constexpr int kWeightBits = 11;
        static constexpr std::uint32_t kMostWeight = (1 << kWeightBits) - 1;
        static constexpr std::uint32_t kMostLimit = (1 << (23 - kWeightBits)) - 1;
        static constexpr std::uint32_t kStep = 32;
        // Whether they may be relied on behind sums of this bound.
        bool valid_up_to(std::uint32_t bound) const { return bound + weight <= limit * kStep; }
        std::uint32_t packed() const { return !is_additive << 23 | limit << kWeightBits | weight; }
        static ScoreBound unpacked(std::uint32_t note) {
            return {note & kMostWeight, note >> kWeightBits & kMostLimit, note >> 23 == 0};
        }
        // As a sum; below 0 where add() does not tell.
        static std::int32_t additive_limit(std::uint32_t note) {
            constexpr int kSign = 32 - 24;
            return (static_cast<std::int32_t>(note << kSign) >> (kWeightBits + kSign)) *
                   static_cast<std::int32_t>(kStep);
        }
    };

    virtual ~CarriedScoreModel() = default;
    // Appends the ids of a chunk.
    virtual ScoreBound encode_with_bound(const std::uint8_t* chunk, std::size_t size,
                                         Model::Scratch& scratch, IdArray& out) const = 0;
    // The sum behind ids that were relied on, and are summable.
    virtual float add(float sum, const Id* ids, std::size_t count) const = 0;
    // Appends the ids of a chunk behind this sum, and adds to the sum. `spans`: as encode_chunk().
    virtual void encode_after_sum(const std::uint8_t* chunk, std::size_t size,
                                  Model::Scratch& scratch, float& sum, IdArray& out,
                                  IdArray* spans) const = 0;
};

}  // namespace toksmith

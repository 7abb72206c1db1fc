// A model fused with the normalizer and the splitter before it (see fused/stage_runner.hpp). They
// run on a cache miss, chunk by chunk, so their cost is paid once per distinct chunk.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "fused/stage_runner.hpp"
#include "models/bpe/lane_merge_table.hpp"
#include "models/model.hpp"
#include "models/unigram/lane_viterbi_table.hpp"

namespace toksmith {

class FusedModel final : public Model, public CarriedScoreModel {
 public:
    FusedModel(std::shared_ptr<const Model> model, std::shared_ptr<const CharacterTable> table,
               std::shared_ptr<const CutTable> cut_table, Stages stages)
        : FusedModel(std::move(model),
                     StageRunner(std::move(table), std::move(cut_table), std::move(stages))) {}
    FusedModel(std::shared_ptr<const Model> model, StageRunner runner)
        : model_(std::move(model)), runner_(std::move(runner)) {
        if (auto rules = model_->lane_rules(); !rules.empty())
            lane_merges_ = lane_merges_of(std::move(rules));
        lane_viterbi_ = model_->make_lane_viterbi(lane_texts());
    }

    std::unique_ptr<Scratch> scratch() const override;
    // `spans` must be null: use encode_with_spans() or SpanModel instead.
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, IdArray& out,
                      IdArray* spans) const override;
    const CutTable* cut_table() const override { return runner_.cut_table().get(); }
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
    struct Buffers;

    // The merges for vector lanes, for the bytes that become one character in any context.
    std::optional<bpe::LaneMergeTable> lane_merges_of(std::vector<bpe::LaneMergeRule> rules) const;
    // How bytes are normalized in chunks that are one piece of characters that do not depend on
    // their neighbours, and that contain no space except at the start.
    unigram::LaneTexts lane_texts() const;

    std::shared_ptr<const Model> model_;
    StageRunner runner_;
    std::optional<bpe::LaneMergeTable> lane_merges_;
    std::unique_ptr<unigram::LaneViterbiTable> lane_viterbi_;
};

}  // namespace toksmith

// A fused model whose output holds spans: see fused/span_records.hpp. It has no vector lanes, since
// they make ids alone.
#pragma once

#include <memory>

#include "fused/model.hpp"

namespace toksmith {

class SpanModel final : public Model, public CarriedScoreModel {
 public:
    explicit SpanModel(std::shared_ptr<const FusedModel> model) : model_(std::move(model)) {}

    std::unique_ptr<Scratch> scratch() const override;
    // Appends records. A chunk that starts with kPrefixByte starts with an inserted space, which
    // the text does not hold. `spans` must be null.
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, IdArray& out,
                      IdArray* spans) const override;
    const CutTable* cut_table() const override { return model_->cut_table(); }
    bool needs_prefix_space(const std::uint8_t* begin, const std::uint8_t* end) const override {
        return model_->needs_prefix_space(begin, end);
    }
    std::uint8_t prefix_byte() const override { return kPrefixByte; }
    bool writes_records() const override { return true; }
    bool has_known_origins(const std::uint8_t* begin, const std::uint8_t* end) const override {
        return model_->has_known_origins(begin, end);
    }

    const CarriedScoreModel* carrier() const override { return model_->carrier() ? this : nullptr; }
    ScoreBound encode_with_bound(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                                 IdArray& out) const override;
    float add(float sum, const Id* records, std::size_t count) const override;
    void encode_after_sum(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, float& sum,
                          IdArray& out, IdArray* spans) const override;

    // Never a byte of UTF-8. In texts it must be replaced by another invalid byte.
    static constexpr std::uint8_t kPrefixByte = 0xFF, kOtherInvalidByte = 0xFE;

 private:
    struct Buffers;

    // `sum`: see CarriedScoreModel::encode_after_sum(); null if the model carries none.
    void write(const std::uint8_t* chunk, std::size_t size, Buffers& buffers, float* sum,
               IdArray& out) const;

    std::shared_ptr<const FusedModel> model_;
};

}  // namespace toksmith

#include "fused/span_model.hpp"

#include <array>
#include <stdexcept>
#include <vector>

#include "fused/span_records.hpp"

namespace toksmith {

struct SpanModel::Buffers final : Model::Scratch {
    std::unique_ptr<Model::Scratch> inner;
    IdArray ids, spans;
    std::vector<std::uint8_t> prefixed;  // a chunk with the inserted space
    void trim(std::size_t bytes) override {
        inner->trim(bytes);
        for (IdArray* const buffer : {&ids, &spans}) {
            if (buffer->capacity() * sizeof(Id) > bytes) *buffer = IdArray();
        }
        Scratch::trim(prefixed, bytes);
    }
};

std::unique_ptr<Model::Scratch> SpanModel::scratch() const {
    auto buffers = std::make_unique<Buffers>();
    buffers->inner = model_->scratch();
    return buffers;
}

void SpanModel::encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                             IdArray& out, IdArray* spans) const {
    if (spans) throw std::logic_error("the spans of a SpanModel are part of its output");
    write(chunk, size, static_cast<Buffers&>(scratch), nullptr, out);
}

CarriedScoreModel::ScoreBound SpanModel::encode_with_bound(const std::uint8_t* chunk,
                                                           std::size_t size, Scratch& scratch,
                                                           IdArray& out) const {
    auto& buffers = static_cast<Buffers&>(scratch);
    float sum = 0;  // the bound is that of the ids after this sum
    write(chunk, size, buffers, &sum, out);
    if (chunk[0] == kPrefixByte) chunk = buffers.prefixed.data();
    buffers.ids.clear();
    return model_->encode_with_bound(chunk, size, *buffers.inner, buffers.ids);
}

float SpanModel::add(float sum, const Id* records, std::size_t count) const {
    std::array<Id, 64> ids;
    std::size_t found = 0;
    span_records::read(records, records + count, [&](Id id, std::int64_t, std::int64_t) {
        ids[found++] = id;
        if (found < ids.size()) return;
        sum = model_->add(sum, ids.data(), found);
        found = 0;
    });
    return model_->add(sum, ids.data(), found);
}

void SpanModel::encode_after_sum(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                                 float& sum, IdArray& out, IdArray* spans) const {
    if (spans) throw std::logic_error("the spans of a SpanModel are part of its output");
    write(chunk, size, static_cast<Buffers&>(scratch), &sum, out);
}

void SpanModel::write(const std::uint8_t* chunk, std::size_t size, Buffers& buffers, float* sum,
                      IdArray& out) const {
    const bool prefixed = chunk[0] == kPrefixByte;
    if (prefixed) {
        buffers.prefixed.assign(chunk, chunk + size);
        buffers.prefixed[0] = ' ';
        chunk = buffers.prefixed.data();
    }
    buffers.ids.clear();
    buffers.spans.clear();
    model_->encode_with_spans(chunk, size, prefixed, *buffers.inner, sum, buffers.ids,
                              buffers.spans);
    const Id before = prefixed ? 1 : 0;  // bytes that the text does not hold
    span_records::Writer records(out);
    for (std::size_t i = 0; i < buffers.ids.size(); ++i) {
        const Id* const span = buffers.spans.data() + 2 * i;
        records.token(buffers.ids.data()[i], span[0] - before, span[1] - before);
    }
    records.finish(size - before);
}

}  // namespace toksmith

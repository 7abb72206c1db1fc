// Binds Encoder.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <stdexcept>

#include "buffers.hpp"
#include "encode/encoder.hpp"
#include "gil.hpp"
#include "models/bpe/model.hpp"
#include "models/bpe/ranks.hpp"
#include "split/splitter.hpp"

namespace toksmith::bindings {
namespace {

Array<Id> recover(const Tokens& tokens) {
    const Vocabulary vocab = vocabulary(tokens);
    IdArray flat;
    {
        const WithoutGil without_gil;
        for (const bpe::MergeRule& merge : bpe::recover_merges(vocab)) {
            for (const Id id : {merge.left, merge.right, merge.id}) flat.push(id);
        }
    }
    return to_numpy(std::move(flat));
}

using Pair = std::tuple<Array<Id>, Array<std::int64_t>>;

Pair encode_all(Encoder& encoder, const std::vector<InputText>& documents, std::size_t threads,
                std::size_t starting = Encoder::kAll, const AddedTokens* added = nullptr) {
    Encoded encoded;
    {
        const WithoutGil without_gil;
        encoded = encoder.encode(documents, threads, starting, added);
    }
    return {to_numpy(std::move(encoded.ids), encoder.kept()), to_numpy(std::move(encoded.offsets))};
}

std::vector<InputText> sources(const std::vector<Text>& texts) {
    return {texts.begin(), texts.end()};
}

// Below 4 KiB, releasing the GIL costs more than the work.
bool is_short(const TextView& view) { return view.source().size() < 4096; }

Array<Id> encode(Encoder& encoder, nb::handle text, std::size_t threads) {
    const TextView view(text);
    if (is_short(view)) {
        return encoder.encode_here(view.source(), [](const IdArray& ids) {
            IdArray copy;
            copy.reserve(ids.size());
            copy.append(ids.data(), ids.size());
            return to_numpy(std::move(copy));
        });
    }
    return std::get<0>(encode_all(encoder, {view.source()}, threads));
}

nb::list encode_list(Encoder& encoder, nb::handle text, std::size_t threads) {
    const TextView view(text);
    if (is_short(view)) {
        return encoder.encode_here(view.source(), [](const IdArray& ids) {  //
            return to_list(ids.data(), ids.size());
        });
    }
    Encoded encoded;
    {
        const WithoutGil without_gil;
        encoded = encoder.encode({view.source()}, threads);
    }
    nb::list list = to_list(encoded.ids.data(), encoded.ids.size());
    encoder.kept()->put(encoded.ids);
    return list;
}

Pair encode_texts(Encoder& encoder, const Texts& texts, std::size_t threads,
                  const AddedTokens* added) {
    const TextViews views(texts);
    return encode_all(encoder, views.sources(), threads, Encoder::kAll, added);
}

Pair encode_slices(Encoder& encoder, nb::handle text, InputRows<std::int64_t> bounds,
                   std::size_t threads) {
    const TextView view(text);
    return encode_all(encoder, sources(slices(view.text(), bounds)), threads);
}

// Encodes the ranges `bounds` of one document, which lie between its added tokens. The document
// starts at byte 0.
Pair encode_segments(Encoder& encoder, nb::handle text, InputRows<std::int64_t> bounds,
                     std::size_t threads) {
    const TextView view(text);
    const std::vector<InputText> segments = sources(slices(view.text(), bounds));
    std::size_t starting = 0;  // ranges that start at 0; several if the first ones are empty
    while (starting < bounds.shape(0) && bounds(starting, 0) == 0) ++starting;
    return encode_all(encoder, segments, threads, starting);
}

std::tuple<Array<Id>, Array<std::int64_t>, Array<std::int64_t>> encode_chunks_with_spans(
    Encoder& encoder, nb::handle text, InputRows<std::int64_t> bounds) {
    const TextView view(text);
    const Text whole = view.text();
    const std::vector<Text> chunks = slices(whole, bounds);
    Encoded encoded;
    std::vector<std::int64_t> spans;
    {
        const WithoutGil without_gil;
        IdArray places;
        encoded = encoder.encode_chunks_with_spans(chunks, places);
        spans.reserve(places.size());
        std::size_t chunk = 0;
        for (std::size_t i = 0; i < places.size(); ++i) {
            while (static_cast<std::int64_t>(i / 2) >= encoded.offsets[chunk + 1]) ++chunk;
            spans.push_back(chunks[chunk].begin - whole.begin + places.data()[i]);
        }
    }
    return {to_numpy(std::move(encoded.ids)), to_numpy(std::move(encoded.offsets)),
            to_numpy(std::move(spans))};
}

// Ids, offsets, and the spans in bytes and in characters; no spans in characters if all texts are
// ASCII.
using WithSpans = std::tuple<Array<Id>, Array<std::int64_t>, SpanRows, std::optional<SpanRows>>;

// Returns None if some spans cannot be computed here.

std::optional<WithSpans> encode_with_spans(Encoder& encoder, const Texts& texts,
                                           std::optional<Input<std::uint8_t>> continuing,
                                           std::size_t threads, const AddedTokens* added) {
    const TextViews views(texts);
    const std::vector<InputText> documents = views.sources();
    if (continuing && continuing->size() != documents.size())
        throw nb::value_error("continuing must have one item for each text");
    std::optional<Located> located;
    {
        const WithoutGil without_gil;
        std::span<const std::uint8_t> flags;
        if (continuing) flags = {continuing->data(), continuing->size()};
        located = encoder.encode_with_spans(documents, flags, threads, added);
    }
    if (!located) return std::nullopt;
    std::optional<SpanRows> characters;
    if (!located->is_ascii)
        characters = to_numpy(std::move(located->characters), encoder.kept_characters());
    return WithSpans{
        to_numpy(std::move(located->ids), encoder.kept()), to_numpy(std::move(located->offsets)),
        to_numpy(std::move(located->bytes), encoder.kept_spans()), std::move(characters)};
}

std::uint64_t count(Encoder& encoder, nb::handle text, std::size_t threads) {
    const TextView view(text);
    if (is_short(view)) return encoder.count_here(view.source());
    const WithoutGil without_gil;
    return encoder.count({view.source()}, threads);
}

}  // namespace

void bind_encode(nb::module_& module) {
    using namespace nb::literals;

    module.def(
        "instruction_set",
        [](const std::string& wanted) { return std::string(isa::name(isa::choose(wanted))); },
        "wanted"_a,
        "Return the name of the instruction set for `wanted`; \"\" is the best of this machine.");
    module.attr("CACHE_BYTES") = ChunkCache::kBytes;
    module.def("recover_merges", &recover, "tokens"_a,
               "Return the merges of a vocabulary of ranks: left, right, id of each, flat.");

    nb::class_<Encoder>(module, "Encoder")
        .def(nb::new_([](std::shared_ptr<Model> model, const Splitter& splitter,
                         const std::string& level) {
                 return new Encoder(std::move(model), splitter, isa::choose(level));
             }),
             "model"_a, "splitter"_a, "instruction_set"_a)
        .def("encode", &encode, "text"_a, "threads"_a)
        .def("encode_list", &encode_list, "text"_a, "threads"_a,
             nb::sig("def encode_list(self, text: object, threads: int) -> list[int]"))
        .def("encode_texts", &encode_texts, "texts"_a, "threads"_a, "added"_a = nb::none())
        .def("encode_slices", &encode_slices, "text"_a, "bounds"_a, "threads"_a)
        .def("encode_segments", &encode_segments, "text"_a, "bounds"_a, "threads"_a)
        .def("encode_chunks_with_spans", &encode_chunks_with_spans, "text"_a, "bounds"_a)
        .def("encode_with_spans", &encode_with_spans, "texts"_a, "continuing"_a, "threads"_a,
             "added"_a = nb::none())
        .def("count", &count, "text"_a, "threads"_a)
        .def("forget", &Encoder::forget, "cache_bytes"_a = nb::none())
        .def_prop_ro("instruction_set", [](const Encoder& encoder) {
            return std::string(isa::name(encoder.level()));
        });
}

}  // namespace toksmith::bindings

// Decoders.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <cstring>
#include <memory>
#include <optional>

#include "buffers.hpp"
#include "encode/decoder.hpp"

namespace toksmith::bindings {
namespace {

nb::str to_str(const std::uint8_t* bytes, std::size_t size, const char* errors) {
    auto result = nb::steal<nb::str>(PyUnicode_DecodeUTF8(reinterpret_cast<const char*>(bytes),
                                                          static_cast<Py_ssize_t>(size), errors));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

using IdInput = Input<std::uint32_t>;

[[noreturn]] void refuse(const Decoder& decoder, const IdInput& ids) {
    const std::size_t place = decoder.first_unknown(ids.data(), ids.size());
    throw nb::index_error(("id " + std::to_string(ids(place)) + " at position " +
                           std::to_string(place) + " is not in the vocabulary")
                              .c_str());
}

Decoder::Parts measured(const Decoder& decoder, const IdInput& ids, std::size_t threads) {
    Decoder::Parts parts;
    {
        nb::gil_scoped_release release;
        parts = decoder.measure(ids.data(), ids.size(), threads);
    }
    if (!parts.known()) refuse(decoder, ids);
    return parts;
}

bool check(const Decoder& decoder, IdInput ids, std::size_t threads) {
    return !measured(decoder, ids, threads).some_empty;
}

nb::bytes decode(const Decoder& decoder, IdInput ids, std::size_t threads) {
    const Decoder::Parts parts = measured(decoder, ids, threads);
    const auto size = static_cast<Py_ssize_t>(parts.bytes());
    auto result = nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, size));
    if (!result.is_valid()) throw nb::python_error();
    auto* out = reinterpret_cast<std::uint8_t*>(PyBytes_AsString(result.ptr()));
    nb::gil_scoped_release release;
    ask_for_huge_pages(out, parts.bytes());
    decoder.decode(ids.data(), parts, out);
    return result;
}

nb::str decode_text(const Decoder& decoder, IdInput ids, const std::string& errors,
                    std::size_t threads, nb::bytes before) {
    const Decoder::Parts parts = measured(decoder, ids, threads);
    const std::size_t led = before.size(), size = led + parts.bytes();
    const std::unique_ptr<std::uint8_t[]> bytes(new std::uint8_t[size]);
    std::memcpy(bytes.get(), before.c_str(), led);
    {
        nb::gil_scoped_release release;
        ask_for_huge_pages(bytes.get(), size);
        decoder.decode(ids.data(), parts, bytes.get() + led);
    }
    return to_str(bytes.get(), size, errors.c_str());
}

}  // namespace

void bind_decode(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<Decoder>(module, "Decoder")
        .def(nb::new_([](const Tokens& tokens, std::optional<Input<std::uint8_t>> known) {
                 bpe::Vocabulary vocab = vocabulary(tokens);
                 std::vector<std::uint8_t> is_known;
                 if (known) is_known.assign(known->data(), known->data() + known->size());
                 return new Decoder(std::move(vocab.bytes), std::move(vocab.offsets), is_known);
             }),
             "tokens"_a, "known"_a.none())
        .def("check", &check, "ids"_a, "threads"_a)
        .def("decode", &decode, "ids"_a, "threads"_a)
        .def("decode_text", &decode_text, "ids"_a, "errors"_a, "threads"_a, "before"_a);
}

}  // namespace toksmith::bindings

// Binds Decoder.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <memory>
#include <optional>

#include "buffers.hpp"
#include "encode/decoder.hpp"
#include "gil.hpp"
#include "utf8/from_utf8.hpp"

namespace toksmith::bindings {
namespace {

using IdInput = Input<std::uint32_t>;

[[noreturn]] void refuse(const Decoder& decoder, const IdInput& ids) {
    const std::size_t place = decoder.first_unknown(ids.data(), ids.size());
    throw nb::index_error(("id " + std::to_string(ids(place)) + " at position " +
                           std::to_string(place) + " is not in the vocabulary")
                              .c_str());
}

Decoder::Parts measured(const Decoder& decoder, const IdInput& ids, std::size_t threads,
                        std::string_view before = {}) {
    Decoder::Parts parts;
    {
        const WithoutGil without_gil;
        parts = decoder.measure(ids.data(), ids.size(), threads, before);
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
    const WithoutGil without_gil;
    decoder.decode(ids.data(), parts, out);
    return result;
}

// Decodes directly into the memory of a new str. Returns None if the bytes are invalid UTF-8.
nb::object decode_characters(const Decoder& decoder, const IdInput& ids,
                             const Decoder::Parts& parts) {
    const unsigned width = parts.width;
    const Py_UCS4 widest = width >= utf8::kFourBytes  ? 0x10FFFF
                           : width >= utf8::kTwoBytes ? 0xFFFF
                           : width == utf8::kOneByte  ? 0xFF
                                                      : 0x7F;
    auto result = nb::steal(PyUnicode_New(static_cast<Py_ssize_t>(parts.characters()), widest));
    if (!result.is_valid()) throw nb::python_error();
    if (parts.characters() == 0) return parts.bytes() == 0 ? result : nb::none();
    void* out = PyUnicode_DATA(result.ptr());
    bool is_valid = false;
    {
        const WithoutGil without_gil;
        is_valid = decoder.decode_characters(ids.data(), parts, out);
    }
    return is_valid ? result : nb::none();
}

nb::object decode_text(const Decoder& decoder, IdInput ids, const std::string& errors,
                       std::size_t threads, nb::bytes before) {
    const Decoder::Parts parts = measured(decoder, ids, threads, {before.c_str(), before.size()});
    nb::object text = decode_characters(decoder, ids, parts);
    if (!text.is_none()) return text;
    const std::size_t size = parts.bytes();
    const std::unique_ptr<char[]> bytes(new char[size]);
    {
        const WithoutGil without_gil;
        decoder.decode(ids.data(), parts, reinterpret_cast<std::uint8_t*>(bytes.get()));
    }
    auto result =
        nb::steal(PyUnicode_DecodeUTF8(bytes.get(), static_cast<Py_ssize_t>(size), errors.c_str()));
    if (!result.is_valid()) throw nb::python_error();
    return result;
}

}  // namespace

void bind_decode(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<Decoder>(module, "Decoder")
        .def(nb::new_([](const Tokens& tokens, std::optional<Input<std::uint8_t>> known) {
                 Vocabulary vocab = vocabulary(tokens);
                 std::vector<std::uint8_t> is_known;
                 if (known) is_known.assign(known->data(), known->data() + known->size());
                 return new Decoder(std::move(vocab.bytes), std::move(vocab.offsets), is_known);
             }),
             "tokens"_a, "known"_a.none())
        .def("check", &check, "ids"_a, "threads"_a)
        .def("decode", &decode, "ids"_a, "threads"_a)
        .def("decode_text", &decode_text, "ids"_a, "errors"_a, "threads"_a, "before"_a,
             nb::sig("def decode_text(self, ids: NDArray[numpy.uint32], errors: str, threads: int, "
                     "before: bytes) -> str"));
}

}  // namespace toksmith::bindings

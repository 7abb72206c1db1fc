// Binds the readers of vocabulary files.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <string_view>
#include <tuple>

#include "buffers.hpp"
#include "models/bpe/ranks.hpp"
#include "vocab/json_model.hpp"
#include "vocab/neighbours.hpp"
#include "vocab/piece_file.hpp"

namespace toksmith::bindings {
namespace {

std::string_view view(const nb::bytes& bytes) { return {bytes.c_str(), bytes.size()}; }

Tokens to_tokens(const Vocabulary& vocabulary) {
    const auto size = static_cast<Py_ssize_t>(vocabulary.size());
    Tokens tokens = nb::steal<Tokens>(PyTuple_New(size));
    if (!tokens.is_valid()) throw nb::python_error();
    for (Py_ssize_t id = 0; id < size; ++id) {
        const std::string_view token = vocabulary[static_cast<Id>(id)];
        PyObject* const held =
            PyBytes_FromStringAndSize(token.data(), static_cast<Py_ssize_t>(token.size()));
        if (!held) throw nb::python_error();
        PyTuple_SET_ITEM(tokens.ptr(), id, held);
    }
    return tokens;
}

template <typename T>
nb::bytes raw(const std::vector<T>& values) {
    return nb::bytes(reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T));
}

std::optional<Tokens> read_ranks(nb::bytes text, Id most) {
    const auto found = bpe::read_ranks(view(text), most);
    if (!found) return std::nullopt;
    return to_tokens(*found);
}

std::optional<std::tuple<Tokens, nb::bytes, nb::bytes, nb::bytes>> read_pieces(nb::bytes file) {
    const auto found = read_piece_file(view(file));
    if (!found) return std::nullopt;
    return std::tuple{to_tokens(found->pieces), raw(found->scores), raw(found->types),
                      nb::bytes(found->rest.data(), found->rest.size())};
}

// None if a token is invalid UTF-8.
std::optional<std::tuple<std::string, std::string>> neighbours(const Tokens& tokens) {
    auto found = neighbours_of(vocabulary(tokens));
    if (!found) return std::nullopt;
    return std::tuple{std::move(found->characters), std::move(found->pairs)};
}

std::string_view text_of(nb::handle token) {
    Py_ssize_t size = 0;
    const char* const bytes = PyUnicode_AsUTF8AndSize(token.ptr(), &size);
    if (!bytes) throw nb::python_error();
    return {bytes, static_cast<std::size_t>(size)};
}

std::optional<Id> get(const JsonModel& model, nb::str token, std::optional<Id> otherwise) {
    const Id id = model.find(text_of(token));
    return id == TokenIndex::kNone ? otherwise : id;
}

}  // namespace

void bind_vocab(nb::module_& module) {
    using namespace nb::literals;
    module.def("read_ranks", &read_ranks, "text"_a, "most"_a,
               "Return the tokens of a .tiktoken file by rank, or None if it is malformed.");
    module.def("read_pieces", &read_pieces, "file"_a,
               "Return a SentencePiece file's pieces, scores (float64), types and other fields.");

    module.def("neighbours", &neighbours, "tokens"_a,
               "Return the characters of tokens, and the pairs that are side by side in one.");

    nb::class_<JsonModel>(module, "TokenIds")
        .def_static(
            "read", [](nb::bytes file) { return JsonModel::read(view(file)); }, "file"_a)
        .def("__len__", &JsonModel::size)
        .def("__contains__", [](const JsonModel& model,
                                nb::str token) { return get(model, token, {}).has_value(); })
        .def("__getitem__",
             [](const JsonModel& model, nb::str token) {
                 const auto id = get(model, token, {});
                 if (!id) throw nb::key_error(token.c_str());
                 return *id;
             })
        .def("get", &get, "token"_a, "otherwise"_a = nb::none())
        .def("is_merged", &JsonModel::is_merged, "token_id"_a)
        .def(
            "spelled_bytes",
            [](const JsonModel& model, const std::vector<Id>& dropped) -> std::optional<Tokens> {
                const auto found = model.spelled_bytes(dropped);
                if (!found) return std::nullopt;
                return to_tokens(*found);
            },
            "dropped"_a)
        .def_prop_ro("rest",
                     [](const JsonModel& model) {
                         return nb::bytes(model.rest().data(), model.rest().size());
                     })
        .def_prop_ro("tokens", [](const JsonModel& model) { return to_tokens(model.tokens()); })
        .def_prop_ro("scores",
                     [](const JsonModel& model) -> std::optional<nb::bytes> {
                         if (!model.scores()) return std::nullopt;
                         return raw(*model.scores());
                     })
        .def_prop_ro("merges", [](const JsonModel& model) -> std::optional<nb::bytes> {
            if (!model.merges()) return std::nullopt;
            return raw(*model.merges());
        });
}

}  // namespace toksmith::bindings

// Binds AddedTokens.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "buffers.hpp"
#include "encode/added_tokens.hpp"
#include "gil.hpp"

namespace toksmith::bindings {
namespace {

// The literal, its id, and whether it has `single_word`, `lstrip` and `rstrip`.
using Token = std::tuple<std::string, Id, bool, bool, bool>;

// Returns None if these tokens have to be found in Python. `is_word`: a Python function of a code
// point.
AddedTokens* added_tokens(const std::vector<Token>& tokens, bool continues, nb::object is_word) {
    std::vector<AddedTokens::Token> found;
    for (const auto& [literal, id, single_word, lstrip, rstrip] : tokens)
        found.push_back({literal, id, single_word, lstrip, rstrip});
    // Freed under the GIL, on whichever thread that is.
    const std::shared_ptr<nb::object> call(new nb::object(std::move(is_word)),
                                           [](nb::object* object) {
                                               if (!may_call_python()) return;
                                               const WithGil gil;
                                               delete object;
                                           });
    return new AddedTokens(std::move(found), continues, [call](std::uint32_t code) {
        const WithGil gil;
        return nb::cast<bool>(call_python(*call, nb::int_(code)));
    });
}

// The index of the first text that holds a token, or None.
std::optional<std::size_t> first_text(const AddedTokens& added, const Texts& texts) {
    const TextViews views(texts);
    const WithoutGil without_gil;
    std::vector<AddedTokens::Match> found;
    InterruptionPoints<1024> points;
    std::size_t index = 0;
    for (const InputText& text : views.sources()) {
        points.step();
        added.find(text, found);
        if (!found.empty()) return index;
        ++index;
    }
    return {};
}

}  // namespace

void bind_added(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<AddedTokens>(module, "AddedTokens", "Finds the literals of added tokens.")
        .def(nb::new_(&added_tokens), "tokens"_a, "continues"_a, "is_word"_a)
        .def("first_text", &first_text, "texts"_a);
}

}  // namespace toksmith::bindings

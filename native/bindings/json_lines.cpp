#include "text/json_lines.hpp"

#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "buffers.hpp"
#include "gil.hpp"

namespace toksmith::bindings {
namespace {

// For the stubs: the texts end to end, their ends, the refused lines, and the number of lines.
using Found = nb::typed<nb::tuple, nb::bytes, Array<std::int64_t>, Array<std::int64_t>, int>;

Found read_json_lines(nb::handle lines, const nb::bytes& field, const std::string& level) {
    const TextView view(lines);
    const Text text = view.text();
    const std::string_view name(field.c_str(), field.size());
    const isa::Level chosen = isa::choose(level);
    PyObject* made = PyBytes_FromStringAndSize(
        nullptr, static_cast<Py_ssize_t>(std::max<std::size_t>(text.size(), 1)));
    if (made == nullptr) throw nb::python_error();
    nb::object owner = nb::steal(made);
    auto* const out = reinterpret_cast<std::uint8_t*>(PyBytes_AS_STRING(made));
    JsonTexts found;
    {
        const WithoutGil without_gil;
        found = toksmith::read_json_lines(text, name, out, chosen);
    }
    made = owner.release().ptr();
    if (_PyBytes_Resize(&made, found.ends.empty() ? 0 : found.ends.back()) != 0)
        throw nb::python_error();
    const std::int64_t count = found.lines;
    return Found(nb::make_tuple(nb::steal(made), to_numpy(std::move(found.ends)),
                                to_numpy(std::move(found.refused)), count));
}

}  // namespace

void bind_json_lines(nb::module_& module) {
    using namespace nb::literals;

    module.def("read_json_lines", &read_json_lines, "lines"_a, "field"_a, "instruction_set"_a,
               "Return the texts of a field, the end of each, the refused lines and the number of "
               "lines.");
}

}  // namespace toksmith::bindings

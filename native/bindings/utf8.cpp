#include <nanobind/stl/string.h>

#include <string>

#include "buffers.hpp"
#include "isa/isa.hpp"
#include "utf8/validate.hpp"

namespace toksmith::bindings {
namespace {

std::int64_t first_invalid(nb::handle text, std::int64_t start, std::int64_t end,
                           const std::string& level) {
    const TextView view(text);
    const Text whole = view.text();
    if (start < 0 || end < start || end > static_cast<std::int64_t>(whole.size())) {
        throw nb::value_error("the range to check lies outside the text");
    }
    const isa::Level chosen = isa::choose(level);
    const nb::gil_scoped_release without_gil;
    return utf8::first_invalid(whole.begin + start, whole.begin + end, chosen) - whole.begin;
}

}  // namespace

void bind_utf8(nb::module_& module) {
    using namespace nb::literals;

    module.def("first_invalid", &first_invalid, "text"_a, "start"_a, "end"_a, "instruction_set"_a,
               "The first byte from start on that belongs to no valid UTF-8 character, or end.");
}

}  // namespace toksmith::bindings

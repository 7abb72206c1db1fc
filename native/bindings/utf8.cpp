#include <nanobind/stl/string.h>

#include <algorithm>
#include <string>

#include "base/stop.hpp"
#include "buffers.hpp"
#include "gil.hpp"
#include "simd/isa.hpp"
#include "text/text.hpp"
#include "utf8/decode.hpp"

namespace toksmith::bindings {
namespace {

using utf8::Byte;

constexpr std::ptrdiff_t kBlock = std::ptrdiff_t{1} << 20;  // bytes between interruption points

std::int64_t first_invalid(nb::handle text, std::int64_t start, std::int64_t end,
                           const std::string& level) {
    const TextView view(text);
    const Text whole = view.text();
    if (start < 0 || end < start || end > static_cast<std::int64_t>(whole.size())) {
        throw nb::value_error("start and end must lie inside the text");
    }
    const isa::Level chosen = isa::choose(level);
    const Byte* const last = whole.begin + end;
    const WithoutGil without_gil;
    for (const Byte* from = whole.begin + start;;) {
        // Moves the end of the block past up to three continuation bytes, so that it does not split
        // a character.
        const Byte* to = from + std::min(kBlock, last - from);
        for (int i = 0; i < 3 && to < last && utf8::is_continuation(*to); ++i) ++to;
        const Byte* const found = utf8::first_invalid(from, to, chosen);
        if (found != to || to == last) return found - whole.begin;
        from = to;
        interruption_point();
    }
}

}  // namespace

void bind_utf8(nb::module_& module) {
    using namespace nb::literals;

    module.def("first_invalid", &first_invalid, "text"_a, "start"_a, "end"_a, "instruction_set"_a,
               "Return the first byte from start on that is invalid UTF-8, or end.");
}

}  // namespace toksmith::bindings

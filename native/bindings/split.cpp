// Binds Splitter and its tables.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include "buffers.hpp"
#include "split/splitter.hpp"

namespace toksmith::bindings {
namespace {

SplitTable* split_table(const std::vector<std::uint32_t>& starts,
                        const std::vector<std::uint8_t>& classes,
                        const std::vector<std::uint16_t>& next,
                        const std::vector<std::uint16_t>& actions,
                        std::vector<std::uint64_t> sure_cuts) {
    return new SplitTable(starts, classes, next, actions, std::move(sure_cuts));
}

Splitter* splitter_of_tables(const nb::typed<nb::sequence, SplitTable>& tables) {
    std::vector<SplitTable> copied;
    for (nb::handle table : tables) copied.push_back(nb::cast<const SplitTable&>(table));
    return new Splitter(std::move(copied));
}

std::int64_t cut(nb::handle text, const Splitter& splitter, std::int64_t start, std::int64_t end) {
    const TextView view(text);
    const Text whole = view.text();
    if (start < 0 || end < start || end > static_cast<std::int64_t>(whole.size())) {
        throw nb::value_error("start and end must lie inside the text");
    }
    const std::uint8_t* found = safe_cut(splitter, whole.begin + start, whole.begin + end);
    return found - whole.begin;
}

}  // namespace

void bind_split(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<SplitTable>(module, "SplitTable")
        .def(nb::new_(&split_table), "starts"_a, "classes"_a, "following"_a, "actions"_a,
             "sure_cuts"_a)
        .def_ro_static("MOST_BACK", &SplitTable::kMostBack)
        .def_ro_static("END_AT_REGISTER", &SplitTable::kEndAtRegister)
        .def_ro_static("MARK", &SplitTable::kMark)
        .def_ro_static("FREE", &SplitTable::kFree);

    nb::class_<Splitter>(module, "Splitter")
        .def(nb::new_([](const std::string& family) { return new Splitter(family_named(family)); }),
             "family"_a)
        .def(nb::new_(&splitter_of_tables), "tables"_a);

    module.def(
        "safe_cut", &cut, "text"_a, "splitter"_a, "start"_a, "end"_a,
        "Return the first place from start on where the text may be cut between chunks, or end.");
}

}  // namespace toksmith::bindings

// Binds Rows: the layout of model inputs, and the arrays that it fills.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "buffers.hpp"
#include "gil.hpp"
#include "rows/fill.hpp"

namespace toksmith::bindings {
namespace {

template <typename T>
using Output = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Offsets = Input<std::int64_t>;

RowLayout::Strategy strategy_of(const std::string& name) {
    if (name == "longest_first") return RowLayout::Strategy::kLongestFirst;
    if (name == "only_first") return RowLayout::Strategy::kOnlyFirst;
    if (name == "only_second") return RowLayout::Strategy::kOnlySecond;
    throw nb::value_error("strategy must be longest_first, only_first or only_second");
}

// Raises IndexError with the document that cannot be cut to the maximum length.
Rows* make_rows(const Offsets& first, const std::optional<Offsets>& second, std::vector<int> parts,
                std::optional<std::int64_t> max_length, std::int64_t stride,
                const std::string& strategy, bool cuts_left, bool overflow) {
    std::vector<std::span<const std::int64_t>> offsets{{first.data(), first.size()}};
    if (second) offsets.emplace_back(second->data(), second->size());
    RowLayout layout{std::move(parts),      max_length, stride,
                     strategy_of(strategy), cuts_left,  overflow};
    try {
        const WithoutGil without_gil;
        return new Rows(std::move(layout), std::move(offsets));
    } catch (const Rows::CannotCut& found) {
        throw nb::index_error(std::to_string(found.document).c_str());
    }
}

template <typename T>
std::span<const T> span_of(const Input<T>& array) {
    return {array.data(), array.size()};
}
template <typename T>
std::array<std::span<const T>, 2> spans_of(const Input<T>& first,
                                           const std::optional<Input<T>>& second) {
    return {span_of(first), second ? span_of(*second) : std::span<const T>()};
}

template <typename T>
void gather_into(const Rows& rows, Output<T> out, const Input<Id>& first,
                 const std::optional<Input<Id>>& second, const Input<std::int64_t>& values,
                 std::int64_t padding, std::optional<std::int64_t> width, bool pads_left,
                 std::size_t threads) {
    const WithoutGil without_gil;
    gather(rows, {width, pads_left}, std::span<T>(out.data(), out.size()), spans_of(first, second),
           span_of(values), padding, threads);
}

template <typename T>
void fill_into(const Rows& rows, Output<T> out, const Input<std::int64_t>& values,
               std::int64_t padding, std::optional<std::int64_t> width, bool pads_left,
               std::size_t threads) {
    const WithoutGil without_gil;
    fill(rows, {width, pads_left}, std::span<T>(out.data(), out.size()), span_of(values), padding,
         threads);
}

// `spaces`: of each id, see SpanTrim; None: spans are kept as they are.
void gather_spans_into(const Rows& rows, Output<std::int64_t> out, const Input<std::int64_t>& first,
                       const std::optional<Input<std::int64_t>>& second, const Input<Id>& first_ids,
                       const std::optional<Input<Id>>& second_ids,
                       const std::optional<Input<std::uint32_t>>& spaces, bool keeps_first,
                       std::optional<std::int64_t> width, bool pads_left, std::size_t threads) {
    const WithoutGil without_gil;
    std::optional<SpanTrim> trim;
    if (spaces) trim = {spans_of(first_ids, second_ids), span_of(*spaces), keeps_first};
    gather_spans(rows, {width, pads_left}, {out.data(), out.size()}, spans_of(first, second), trim,
                 threads);
}

}  // namespace

void bind_rows(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<Rows>(module, "Rows", "The tokens of the rows of model inputs.")
        .def(nb::new_(&make_rows), "first"_a, "second"_a, "parts"_a, "max_length"_a, "stride"_a,
             "strategy"_a, "cuts_left"_a, "overflow"_a)
        .def("__len__", &Rows::size)
        .def_prop_ro("longest", &Rows::longest)
        .def("starts", [](const Rows& rows) { return to_numpy(rows.starts()); })
        .def("documents",
             [](const Rows& rows) {
                 std::vector<std::int64_t> found(rows.size());
                 std::ranges::transform(rows.rows(), found.begin(), &Rows::Row::document);
                 return to_numpy(std::move(found));
             })
        .def("gather", &gather_into<std::int64_t>, "out"_a, "first"_a, "second"_a, "values"_a,
             "padding"_a, "width"_a, "pads_left"_a, "threads"_a)
        .def("gather", &gather_into<Id>, "out"_a, "first"_a, "second"_a, "values"_a, "padding"_a,
             "width"_a, "pads_left"_a, "threads"_a)
        .def("fill", &fill_into<std::int64_t>, "out"_a, "values"_a, "padding"_a, "width"_a,
             "pads_left"_a, "threads"_a)
        .def("fill", &fill_into<std::int8_t>, "out"_a, "values"_a, "padding"_a, "width"_a,
             "pads_left"_a, "threads"_a)
        .def("gather_spans", &gather_spans_into, "out"_a, "first"_a, "second"_a, "first_ids"_a,
             "second_ids"_a, "spaces"_a, "keeps_first"_a, "width"_a, "pads_left"_a, "threads"_a);
}

}  // namespace toksmith::bindings

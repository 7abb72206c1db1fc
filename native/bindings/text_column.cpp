#include "text_column.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <string>
#include <string_view>

#include "buffers.hpp"

namespace toksmith::bindings {
namespace {

template <typename Structure>
Structure* pointer_of(nb::handle capsule, const char* name) {
    void* const found = PyCapsule_GetPointer(capsule.ptr(), name);
    if (!found) throw nb::python_error();
    return static_cast<Structure*>(found);
}

template <typename T>
const T* buffer_of(const arrow::Array& array, std::int64_t index) {
    if (index >= array.n_buffers) throw nb::value_error("an Arrow array lacks a buffer");
    return static_cast<const T*>(array.buffers[index]);
}

bool is_null(const arrow::Array& array, std::int64_t row) {
    if (array.null_count == 0 || array.n_buffers == 0) return false;
    const auto* valid = static_cast<const std::uint8_t*>(array.buffers[0]);
    const std::int64_t bit = array.offset + row;
    return valid && (valid[bit / 8] >> (bit % 8) & 1) == 0;
}

Text text_of(const void* data, std::int64_t start, std::int64_t end) {
    static constexpr std::uint8_t kNothing = 0;  // the data of empty texts may be null
    const auto* begin = data ? static_cast<const std::uint8_t*>(data) : &kNothing;
    return {begin + start, begin + end};
}

// Calls use(row) for each row that is not null, and null(row) for the others.
template <typename Use, typename Null>
void for_each_valid(const arrow::Array& array, const Null& null, const Use& use) {
    for (std::int64_t row = 0; row < array.length; ++row) {
        if (is_null(array, row)) {
            null(row);
        } else {
            use(row);
        }
    }
}

template <typename Offset, typename Use, typename Null>
void for_each_by_offsets(const arrow::Array& array, const Use& use, const Null& null) {
    const auto* offsets = buffer_of<Offset>(array, 1);
    const auto* data = buffer_of<void>(array, 2);
    for_each_valid(array, null, [&](std::int64_t row) {
        const Offset* bounds = offsets + array.offset + row;
        use(row, text_of(data, bounds[0], bounds[1]));
    });
}

template <typename Use, typename Null>
void for_each_view(const arrow::Array& array, const Use& use, const Null& null) {
    constexpr std::size_t kView = 16;
    constexpr std::int32_t kInline = 12;  // the longest text that is in the view itself
    const auto* views = buffer_of<std::uint8_t>(array, 1);
    for_each_valid(array, null, [&](std::int64_t row) {
        const std::uint8_t* view = views + static_cast<std::size_t>(array.offset + row) * kView;
        std::int32_t fields[4];  // size, prefix, buffer, offset
        std::memcpy(fields, view, kView);
        const std::int32_t size = fields[0];
        if (size <= kInline) {
            use(row, text_of(view + sizeof size, 0, size));
        } else {
            use(row, text_of(buffer_of<void>(array, 2 + fields[2]), fields[3],
                             std::int64_t{fields[3]} + size));
        }
    });
}

// Calls use(row, text) for each text of a column without a dictionary, null(row) for each null.
template <typename Use, typename Null>
void for_each_text(const arrow::Array& array, std::string_view format, const Use& use,
                   const Null& null) {
    if (array.length == 0) return;
    if (format == "u" || format == "z") {
        for_each_by_offsets<std::int32_t>(array, use, null);
    } else if (format == "U" || format == "Z") {
        for_each_by_offsets<std::int64_t>(array, use, null);
    } else if (format == "vu" || format == "vz") {
        for_each_view(array, use, null);
    } else {  // nulls alone
        for (std::int64_t row = 0; row < array.length; ++row) null(row);
    }
}

void check_text(const arrow::Schema& schema) {
    const std::string_view format = schema.format;
    for (const std::string_view known : {"u", "U", "vu", "z", "Z", "vz", "n"}) {
        if (format == known) return;
    }
    throw nb::type_error(schema.format);
}

// Calls use(row, index) for each row with a place in the dictionary, null(row) for the others.
template <typename Index, typename Use, typename Null>
void for_each_index(const arrow::Array& array, const Use& use, const Null& null) {
    const auto* indices = buffer_of<Index>(array, 1);
    for_each_valid(array, null, [&](std::int64_t row) {
        use(row, static_cast<std::size_t>(indices[array.offset + row]));
    });
}

template <typename Use, typename Null>
void for_each_index(const arrow::Array& array, char format, const Use& use, const Null& null) {
    switch (format) {
        case 'c':
            return for_each_index<std::int8_t>(array, use, null);
        case 'C':
            return for_each_index<std::uint8_t>(array, use, null);
        case 's':
            return for_each_index<std::int16_t>(array, use, null);
        case 'S':
            return for_each_index<std::uint16_t>(array, use, null);
        case 'i':
            return for_each_index<std::int32_t>(array, use, null);
        case 'I':
            return for_each_index<std::uint32_t>(array, use, null);
        default:
            return for_each_index<std::int64_t>(array, use, null);
    }
}

void raise_if_failed(int code, arrow::Stream& stream) {
    if (code == 0) return;
    const char* const message = stream.get_last_error(&stream);
    throw std::runtime_error(message ? message : "an Arrow stream failed");
}

nb::bytes bytes_of(const InputText& text) { return nb::bytes(text.utf8().begin, text.size()); }

nb::object item(const TextColumn& column, nb::handle index) {
    const auto size = static_cast<Py_ssize_t>(column.size());
    if (PySlice_Check(index.ptr())) {
        Py_ssize_t start = 0, stop = 0, step = 0;
        if (PySlice_Unpack(index.ptr(), &start, &stop, &step) < 0) throw nb::python_error();
        PySlice_AdjustIndices(size, &start, &stop, step);
        if (step != 1) throw nb::value_error("slices of a column of texts have step 1");
        const auto first = static_cast<std::size_t>(start);
        return nb::cast(column.slice(first, std::max(first, static_cast<std::size_t>(stop))));
    }
    const Py_ssize_t given = PyNumber_AsSsize_t(index.ptr(), PyExc_IndexError);
    if (given == -1 && PyErr_Occurred()) throw nb::python_error();
    const Py_ssize_t place = given < 0 ? given + size : given;
    if (place < 0 || place >= size) throw nb::index_error("the column has fewer texts");
    return bytes_of(column.texts()[static_cast<std::size_t>(place)]);
}

// The first row after `start` at which rows [start, row) hold `size` bytes or more.
std::size_t end_of_block(const TextColumn& column, std::size_t start, std::size_t size) {
    std::size_t held = 0;
    while (start < column.size() && held < size) held += column.texts()[start++].size();
    return start;
}

}  // namespace

TextColumn::TextColumn(nb::handle object) {
    if (!nb::hasattr(object, "__arrow_c_stream__")) {
        const nb::object pair = object.attr("__arrow_c_array__")();
        auto* schema = pointer_of<arrow::Schema>(nb::object(pair[0]), "arrow_schema");
        add(arrow::Owned(pointer_of<arrow::Array>(nb::object(pair[1]), "arrow_array")), *schema);
        return;
    }
    const nb::object capsule = object.attr("__arrow_c_stream__")();
    arrow::Owned stream(pointer_of<arrow::Stream>(capsule, "arrow_array_stream"));
    arrow::Owned<arrow::Schema> schema;
    raise_if_failed(stream->get_schema(stream.get(), schema.get()), *stream.get());
    if (!schema->dictionary) check_text(*schema);  // also if the stream is empty
    while (true) {
        arrow::Owned<arrow::Array> array;
        raise_if_failed(stream->get_next(stream.get(), array.get()), *stream.get());
        if (array.is_empty()) break;
        add(std::move(array), *schema);
    }
}

void TextColumn::add(arrow::Owned<arrow::Array> owned, const arrow::Schema& schema) {
    const arrow::Array& array = *owned;
    const arrow::Schema& values = schema.dictionary ? *schema.dictionary : schema;
    check_text(values);
    const std::size_t before = texts_.size();
    const InputText empty = text_of(nullptr, 0, 0);
    texts_.resize(before + static_cast<std::size_t>(array.length), empty);
    const auto null = [&](std::int64_t row) {
        if (!first_null_) first_null_ = before + static_cast<std::size_t>(row);
    };
    const auto put = [&](std::int64_t row, Text text) {
        texts_[before + static_cast<std::size_t>(row)] = text;
    };
    if (schema.dictionary && array.length > 0) {
        const arrow::Array& dictionary = *array.dictionary;
        std::vector<std::optional<Text>> known(static_cast<std::size_t>(dictionary.length));
        for_each_text(
            dictionary, values.format,
            [&](std::int64_t place, Text text) { known[static_cast<std::size_t>(place)] = text; },
            [](std::int64_t) {});
        const auto look_up = [&](std::int64_t row, std::size_t place) {
            const std::optional<Text>& text = known.at(place);
            if (text) {
                put(row, *text);
            } else {
                null(row);
            }
        };
        for_each_index(array, schema.format[0], look_up, null);
    } else {
        for_each_text(array, values.format, put, null);
    }
    memory_->push_back(std::move(owned));
}

std::size_t TextColumn::bytes() const {
    std::size_t bytes = 0;
    for (const InputText& text : texts_) bytes += text.size();
    return bytes;
}

TextColumn TextColumn::slice(std::size_t start, std::size_t end) const {
    TextColumn part;
    part.texts_.assign(texts_.begin() + static_cast<std::ptrdiff_t>(start),
                       texts_.begin() + static_cast<std::ptrdiff_t>(end));
    part.memory_ = memory_;
    return part;
}

void bind_text_column(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<TextColumn>(module, "TextColumn", "A column of texts in Arrow's memory layout.")
        .def(nb::init<nb::handle>(), "column"_a,
             "Read an object with __arrow_c_stream__ or __arrow_c_array__.")
        .def_prop_ro("first_null", &TextColumn::first_null)
        .def_prop_ro("nbytes", &TextColumn::bytes)
        .def("end_of_block", &end_of_block, "start"_a, "size"_a)
        .def("__len__", &TextColumn::size)
        .def("__getitem__", &item, "index"_a);
}

}  // namespace toksmith::bindings

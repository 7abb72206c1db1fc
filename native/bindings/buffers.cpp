#include "buffers.hpp"

#include <atomic>

#include "text_column.hpp"

namespace toksmith::bindings {
namespace {

// The UTF-8 that Python caches in the str.
Text utf8_of(nb::handle str) {
    Py_ssize_t size = 0;
    const char* bytes = PyUnicode_AsUTF8AndSize(str.ptr(), &size);
    if (!bytes) throw nb::python_error();
    const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes);
    return {begin, begin + size};
}

InputText source_of(nb::handle str) {
    PyObject* const object = str.ptr();
#if PY_VERSION_HEX < 0x030C0000
    if (PyUnicode_READY(object) != 0) throw nb::python_error();
#endif
    const auto size = static_cast<std::size_t>(PyUnicode_GET_LENGTH(object));
    if (PyUnicode_IS_ASCII(object)) {
        const auto* begin = static_cast<const std::uint8_t*>(PyUnicode_DATA(object));
        return Text{begin, begin + size};
    }
    static_assert(PyUnicode_1BYTE_KIND == int{utf8::kOneByte});
    static_assert(PyUnicode_2BYTE_KIND == int{utf8::kTwoBytes});
    static_assert(PyUnicode_4BYTE_KIND == int{utf8::kFourBytes});
    return {PyUnicode_DATA(object), size, static_cast<utf8::Width>(PyUnicode_KIND(object))};
}

}  // namespace

TextView::TextView(nb::handle object) : owner_(nb::borrow(object)) {
    if (PyUnicode_Check(object.ptr())) {
        source_ = source_of(object);
        return;
    }
    if (PyObject_GetBuffer(object.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
    if (view_.itemsize != 1) {
        PyBuffer_Release(&view_);
        throw nb::type_error("text must be a str, or bytes-like with items of one byte");
    }
    has_view_ = true;
    const auto* begin = static_cast<const std::uint8_t*>(view_.buf);
    source_ = Text{begin, begin + view_.len};
}

TextView::TextView(TextView&& other) noexcept
    : owner_(std::move(other.owner_)),
      view_(other.view_),
      has_view_(other.has_view_),
      source_(other.source_) {
    other.has_view_ = false;
}

Text TextView::text() const { return source_.is_utf8() ? source_.utf8() : utf8_of(owner_); }

TextView::~TextView() {
    if (has_view_) PyBuffer_Release(&view_);
}

TextViews::TextViews(const Texts& texts) {
    if (nb::try_cast(texts, column_)) {
        owner_ = texts;
        return;
    }
    views_.reserve(nb::len(texts));
    for (nb::handle text : texts) views_.emplace_back(text);
}

std::vector<InputText> TextViews::sources() const {
    if (column_) return column_->texts();
    std::vector<InputText> result;
    result.reserve(views_.size());
    for (const TextView& view : views_) result.push_back(view.source());
    return result;
}

std::vector<Text> TextViews::texts() const {
    std::vector<Text> result;
    if (column_) {
        result.reserve(column_->size());
        for (const InputText& text : column_->texts()) result.push_back(text.utf8());
        return result;
    }
    result.reserve(views_.size());
    for (const TextView& view : views_) result.push_back(view.text());
    return result;
}

namespace {

// Owns the memory of an array that NumPy uses.
struct Owner {
    IdArray ids;
    std::shared_ptr<ResultBufferCache> kept;
    ~Owner() {
        if (kept) kept->put(ids);
    }
};

}  // namespace

void need_numpy() {
    static std::atomic<bool> is_there{false};
    if (is_there) return;
    nb::module_::import_("toksmith._base.lazy").attr("load")("numpy");
    is_there = true;
}

Array<Id> to_numpy(IdArray ids, std::shared_ptr<ResultBufferCache> kept) {
    need_numpy();
    auto* owned = new Owner{std::move(ids), std::move(kept)};
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Owner*>(p); });
    return Array<Id>(owned->ids.data(), {owned->ids.size()}, owner);
}

SpanRows to_numpy(SpanArray spans, std::shared_ptr<ResultBufferCache> kept) {
    need_numpy();
    auto* const data = spans.data();
    const std::size_t size = spans.size();
    auto* owned = new Owner{spans.take_words(), std::move(kept)};
    nb::capsule owner(owned, [](void* p) noexcept { delete static_cast<Owner*>(p); });
    return {data, {size, 2}, owner};
}

std::vector<Text> slices(Text text, const InputRows<std::int64_t>& bounds) {
    if (bounds.shape(1) != 2) throw nb::value_error("bounds must have two columns: start and end");
    std::vector<Text> result;
    result.reserve(bounds.shape(0));
    const auto size = static_cast<std::int64_t>(text.size());
    std::int64_t before = 0;
    for (std::size_t i = 0; i < bounds.shape(0); ++i) {
        const std::int64_t start = bounds(i, 0), end = bounds(i, 1);
        if (start < before || end < start || end > size) {
            throw nb::value_error("bounds must lie inside the text, in order");
        }
        result.push_back({text.begin + start, text.begin + end});
        before = end;
    }
    return result;
}

}  // namespace toksmith::bindings

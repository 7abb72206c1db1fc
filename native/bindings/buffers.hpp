// Converts Python's texts and buffers for the kernel, and the kernel's arrays to NumPy's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/id_array.hpp"
#include "encode/kernels.hpp"
#include "encode/located.hpp"
#include "encode/result_buffer_cache.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bindings {

namespace nb = nanobind;

template <typename T>
using Array = nb::ndarray<nb::numpy, T, nb::ndim<1>>;
template <typename T>
using Input = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <typename T>
using InputRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

// A view of a str, or of the bytes of an object with a contiguous buffer, without a copy. Keeps a
// reference to the object. Needs the GIL to be constructed, destroyed, and for text().
class TextView {
 public:
    // Throws TypeError if the object is neither str nor a buffer.
    explicit TextView(nb::handle object);
    TextView(TextView&& other) noexcept;
    TextView(const TextView&) = delete;
    TextView& operator=(const TextView&) = delete;
    ~TextView();

    const InputText& source() const { return source_; }
    // The text as UTF-8. A str caches its UTF-8. Throws UnicodeEncodeError if it contains
    // surrogates.
    Text text() const;

 private:
    nb::object owner_;
    Py_buffer view_{};
    bool has_view_ = false;
    InputText source_{Text{nullptr, nullptr}};
};

// For the stubs: Sequence[object].
using Texts = nb::typed<nb::sequence, nb::object>;

class TextColumn;

// Views of several texts: a sequence of objects, or a column, whose memory is used directly.
class TextViews {
 public:
    explicit TextViews(const Texts& texts);
    std::vector<InputText> sources() const;
    std::vector<Text> texts() const;

 private:
    std::vector<TextView> views_;
    nb::object owner_;  // of the column
    const TextColumn* column_ = nullptr;
};

// Imports NumPy, which the first array needs. Done explicitly because nanobind would replace any
// exception during that import, such as KeyboardInterrupt, by a TypeError.
void need_numpy();

// `kept`: receives the memory when Python frees the array; null: the memory is freed.
Array<Id> to_numpy(IdArray ids, std::shared_ptr<ResultBufferCache> kept = {});

using SpanRows = nb::ndarray<nb::numpy, std::int64_t, nb::ndim<2>>;
SpanRows to_numpy(SpanArray spans, std::shared_ptr<ResultBufferCache> kept);

template <typename T>
Array<T> to_numpy(std::vector<T> values) {
    need_numpy();
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(kept->data(), {kept->size()}, owner);
}

// Makes a list of the ids in one pass. See lists.cpp.
nb::list to_list(const Id* ids, std::size_t count);

// For the stubs: tuple[bytes, ...], the token of each id.
using Tokens = nb::typed<nb::tuple, nb::bytes, nb::ellipsis>;

// Throws TypeError if an item is not bytes.
Vocabulary vocabulary(const Tokens& tokens);

// Each file of this directory binds one domain.
void bind_models(nb::module_& module);
void bind_fused(nb::module_& module);
void bind_split(nb::module_& module);
void bind_encode(nb::module_& module);
void bind_rows(nb::module_& module);
void bind_added(nb::module_& module);
void bind_vocab(nb::module_& module);
void bind_decode(nb::module_& module);
void bind_lists(nb::module_& module);
void bind_segmentations(nb::module_& module);
void bind_utf8(nb::module_& module);
void bind_json_lines(nb::module_& module);
void bind_counting(nb::module_& module);
void bind_text_column(nb::module_& module);
void bind_arrow_lists(nb::module_& module);
void bind_words(nb::module_& module);
void bind_train(nb::module_& module);
void bind_unigram_training(nb::module_& module);

// The slices [start, end) of a text. Throws ValueError if they are not ascending or not inside it.
std::vector<Text> slices(Text text, const InputRows<std::int64_t>& bounds);

}  // namespace toksmith::bindings

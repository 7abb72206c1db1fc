// Python's texts and buffers as the kernel sees them, and the kernel's arrays as NumPy's.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/id_array.hpp"
#include "encode/kernels.hpp"
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

// A str, or the bytes of any object with a contiguous buffer, without a copy. Holds on to the
// object; made, destroyed and asked for text() with the GIL.
class TextView {
 public:
    // Throws TypeError for what is no text.
    explicit TextView(nb::handle object);
    TextView(TextView&& other) noexcept;
    TextView(const TextView&) = delete;
    TextView& operator=(const TextView&) = delete;
    ~TextView();

    const InputText& source() const { return source_; }
    // As UTF-8, which the object keeps, too, if it is a str. Throws UnicodeEncodeError for one with
    // surrogates.
    Text text() const;

 private:
    nb::object owner_;
    Py_buffer view_{};
    bool has_view_ = false;
    InputText source_{Text{nullptr, nullptr}};
};

// What Python calls a Sequence[object].
using Texts = nb::typed<nb::sequence, nb::object>;

class TextViews {
 public:
    explicit TextViews(const Texts& texts);
    std::vector<InputText> sources() const;
    std::vector<Text> texts() const;

 private:
    std::vector<TextView> views_;
};

// Imports NumPy, which the first array needs: nanobind would make a TypeError of whatever ends the
// import, such as Ctrl-C.
inline void need_numpy() {
    static bool is_there = false;
    if (is_there) return;
    nb::module_::import_("numpy");
    is_there = true;
}

// `kept`: where the memory goes when the array is out of use, if not back to the system.
Array<Id> to_numpy(IdArray ids, std::shared_ptr<ResultBufferCache> kept = {});

template <typename T>
Array<T> to_numpy(std::vector<T> values) {
    need_numpy();
    auto* kept = new std::vector<T>(std::move(values));
    nb::capsule owner(kept, [](void* p) noexcept { delete static_cast<std::vector<T>*>(p); });
    return Array<T>(kept->data(), {kept->size()}, owner);
}

// What Python calls a tuple[bytes, ...]: the token of each id.
using Tokens = nb::typed<nb::tuple, nb::bytes, nb::ellipsis>;

// Throws TypeError where one is no bytes.
Vocabulary vocabulary(const Tokens& tokens);

// Each file of this folder binds one domain.
void bind_models(nb::module_& module);
void bind_fused(nb::module_& module);
void bind_encode(nb::module_& module);
void bind_decode(nb::module_& module);
void bind_lists(nb::module_& module);
void bind_utf8(nb::module_& module);
void bind_counting(nb::module_& module);
void bind_words(nb::module_& module);
void bind_train(nb::module_& module);
void bind_unigram_training(nb::module_& module);

// The slices [start, end) of a text; throws ValueError where they do not lie in it in order.
std::vector<Text> slices(Text text, const InputRows<std::int64_t>& bounds);

}  // namespace toksmith::bindings

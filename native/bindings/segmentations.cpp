// Serializes segmentations of texts as SentencePiece's message SentencePieceText.
#include <cstring>
#include <string_view>

#include "buffers.hpp"
#include "gil.hpp"

namespace toksmith::bindings {
namespace {

// The keys of fields: the number of the field and its wire type. Texts and messages carry their
// length, numbers are varints.
constexpr char kText = '\x0a', kPieces = '\x12';  // of SentencePieceText
constexpr char kPiece = '\x0a', kId = '\x10', kSurface = '\x1a', kBegin = '\x20', kEnd = '\x28';

std::size_t varint_size(std::uint64_t number) {
    std::size_t size = 1;
    for (; number > 0x7F; number >>= 7) ++size;
    return size;
}

char* put_varint(char* out, std::uint64_t number) {
    for (; number > 0x7F; number >>= 7) *out++ = static_cast<char>(number | 0x80);
    *out++ = static_cast<char>(number);
    return out;
}

char* put_number(char* out, char key, std::uint64_t number) {
    *out++ = key;
    return put_varint(out, number);
}

char* put_text(char* out, char key, std::string_view text) {
    out = put_number(out, key, text.size());
    std::memcpy(out, text.data(), text.size());
    return out + text.size();
}

std::size_t text_size(std::string_view text) { return 1 + varint_size(text.size()) + text.size(); }

std::string_view view_of(nb::handle item) {
    char* data = nullptr;
    Py_ssize_t size = 0;
    if (PyBytes_AsStringAndSize(item.ptr(), &data, &size) != 0) throw nb::python_error();
    return {data, static_cast<std::size_t>(size)};
}

// The pieces of all texts.
struct Pieces {
    Input<Id> ids;
    Input<std::int64_t> begins, ends;  // in bytes of the text
    Input<bool> silent;                // no surface
    nb::list spelled;

    // Throws ValueError if the piece lies outside the text.
    std::string_view surface(std::string_view text, std::size_t i) const {
        const std::int64_t begin = begins(i), end = ends(i);
        if (begin < 0 || end < begin || end > static_cast<std::int64_t>(text.size()))
            throw nb::value_error("a piece lies outside its text");
        return text.substr(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
    }

    std::size_t size_of(std::string_view text, std::size_t i) const {
        const std::size_t size = text_size(view_of(spelled[i])) + 1 + varint_size(ids(i)) + 2 +
                                 varint_size(static_cast<std::uint64_t>(begins(i))) +
                                 varint_size(static_cast<std::uint64_t>(ends(i)));
        return silent(i) ? size : size + text_size(surface(text, i));
    }

    char* put(char* out, std::string_view text, std::size_t i) const {
        out = put_number(out, kPieces, size_of(text, i));
        out = put_text(out, kPiece, view_of(spelled[i]));
        out = put_number(out, kId, ids(i));
        if (!silent(i)) out = put_text(out, kSurface, surface(text, i));
        out = put_number(out, kBegin, static_cast<std::uint64_t>(begins(i)));
        return put_number(out, kEnd, static_cast<std::uint64_t>(ends(i)));
    }
};

nb::bytes serialize(std::string_view text, const Pieces& pieces, std::size_t first,
                    std::size_t last) {
    std::size_t size = text_size(text);
    for (std::size_t i = first; i < last; ++i) {
        static_cast<void>(pieces.surface(text, i));  // checks the places
        const std::size_t held = pieces.size_of(text, i);
        size += 1 + varint_size(held) + held;
    }
    auto made =
        nb::steal<nb::bytes>(PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(size)));
    if (!made.is_valid()) throw nb::python_error();
    char* out = put_text(PyBytes_AS_STRING(made.ptr()), kText, text);
    for (std::size_t i = first; i < last; ++i) out = pieces.put(out, text, i);
    return made;
}

nb::list serialize_segmentations(nb::list texts, Input<std::int64_t> offsets, Input<Id> ids,
                                 Input<std::int64_t> begins, Input<std::int64_t> ends,
                                 Input<bool> silent, nb::list spelled) {
    const std::size_t count = ids.size();
    if (begins.size() != count || ends.size() != count || silent.size() != count ||
        spelled.size() != count || offsets.size() != texts.size() + 1)
        throw nb::value_error("the arrays must have one item per piece, and an offset per text");
    const Pieces pieces{std::move(ids), std::move(begins), std::move(ends), std::move(silent),
                        std::move(spelled)};
    nb::list made;
    for (std::size_t i = 0; i + 1 < offsets.size(); ++i) {
        const std::int64_t first = offsets(i), last = offsets(i + 1);
        if (first < 0 || last < first || last > static_cast<std::int64_t>(count))
            throw nb::value_error("the offsets must lie inside the pieces, in order");
        if (i % 4096 == 4095) check_signals_with_gil();
        made.append(serialize(view_of(texts[i]), pieces, static_cast<std::size_t>(first),
                              static_cast<std::size_t>(last)));
    }
    return made;
}

}  // namespace

void bind_segmentations(nb::module_& module) {
    using namespace nb::literals;
    module.def("serialize_segmentations", &serialize_segmentations, "texts"_a, "offsets"_a, "ids"_a,
               "begins"_a, "ends"_a, "silent"_a, "pieces"_a,
               nb::sig("def serialize_segmentations(texts: list[bytes], offsets: "
                       "NDArray[numpy.int64], ids: NDArray[numpy.uint32], begins: "
                       "NDArray[numpy.int64], ends: NDArray[numpy.int64], silent: "
                       "NDArray[numpy.bool_], pieces: list[bytes]) -> list[bytes]"),
               "Return the message SentencePieceText of each text; its places are in bytes.");
}

}  // namespace toksmith::bindings

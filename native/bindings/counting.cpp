// Counting the chunks, and the words, of a corpus.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include "buffers.hpp"
#include "train/counter.hpp"
#include "train/word_counter.hpp"

namespace toksmith::bindings {
namespace {

template <typename Counter>
void add_texts(Counter& counter, const Texts& texts, std::size_t threads) {
    const TextViews views(texts);
    const std::vector<Text> documents = views.texts();
    nb::gil_scoped_release release;
    counter.add(documents, threads);
}

template <typename Counter>
void add_slices(Counter& counter, nb::handle text, InputRows<std::int64_t> bounds,
                std::size_t threads) {
    const TextView view(text);
    const std::vector<Text> documents = slices(view.text(), bounds);
    nb::gil_scoped_release release;
    counter.add(documents, threads);
}

void add_chunks(ChunkCounter& counter, nb::handle text, InputRows<std::int64_t> bounds,
                Input<std::uint64_t> counts) {
    const TextView view(text);
    const std::vector<Text> chunks = slices(view.text(), bounds);
    if (counts.size() != chunks.size()) throw nb::value_error("as many counts as chunks, please");
    const std::vector<std::uint64_t> copied(counts.data(), counts.data() + counts.size());
    nb::gil_scoped_release release;
    counter.add_chunks(chunks, copied);
}

// The chunks end to end, where each ends, and how often each was seen.
using Counted = std::tuple<nb::bytes, Array<std::uint64_t>, Array<std::uint64_t>>;

template <typename Counter>
Counted finish(Counter& counter) {
    ChunkTable table;
    std::vector<std::uint64_t> ends, counts;
    {
        nb::gil_scoped_release release;
        table = counter.finish();
        ends.reserve(table.entries().size());
        counts.reserve(table.entries().size());
        std::uint64_t end = 0;
        for (const ChunkTable::Entry& entry : table.entries()) {
            ends.push_back(end += entry.size);
            counts.push_back(entry.count);
        }
    }
    nb::bytes bytes = nb::steal<nb::bytes>(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(table.total_bytes())));
    if (!bytes.is_valid()) throw nb::python_error();
    auto* out = reinterpret_cast<std::uint8_t*>(PyBytes_AsString(bytes.ptr()));
    for (const ChunkTable::Entry& entry : table.entries()) {
        std::memcpy(out, table.bytes(entry), entry.size);
        out += entry.size;
    }
    return {bytes, to_numpy(std::move(ends)), to_numpy(std::move(counts))};
}

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> lines(const WordCounter& counter) {
    return {counter.lines().counted, counter.lines().too_long, counter.lines().reserved};
}

}  // namespace

void bind_counting(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<ChunkCounter>(module, "ChunkCounter")
        .def(nb::new_([](const std::string& family, const std::string& level) {
                 return new ChunkCounter(family_named(family), isa::choose(level));
             }),
             "family"_a, "instruction_set"_a)
        .def("add_texts", &add_texts<ChunkCounter>, "texts"_a, "threads"_a)
        .def("add_slices", &add_slices<ChunkCounter>, "text"_a, "bounds"_a, "threads"_a)
        .def("add_chunks", &add_chunks, "text"_a, "bounds"_a, "counts"_a)
        .def("finish", &finish<ChunkCounter>);

    nb::class_<WordCounter>(module, "WordCounter")
        .def(nb::new_([](bool words, std::size_t longest, bool reserved) {
                 return new WordCounter({words, longest, reserved});
             }),
             "words"_a, "longest"_a, "reserved"_a)
        .def("add_texts", &add_texts<WordCounter>, "texts"_a, "threads"_a)
        .def("add_slices", &add_slices<WordCounter>, "text"_a, "bounds"_a, "threads"_a)
        .def("finish", &finish<WordCounter>)
        .def("lines", &lines);
}

}  // namespace toksmith::bindings

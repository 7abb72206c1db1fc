// Counting chunks and training.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <optional>

#include "buffers.hpp"
#include "train/bpe_trainer.hpp"
#include "train/counter.hpp"

namespace toksmith::bindings {
namespace {

void add_texts(ChunkCounter& counter, const Texts& texts, std::size_t threads) {
    const TextViews views(texts);
    const std::vector<Text> documents = views.texts();
    nb::gil_scoped_release release;
    counter.add(documents, threads);
}

void add_slices(ChunkCounter& counter, nb::handle text, InputRows<std::int64_t> bounds,
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

using Counted = std::tuple<nb::bytes, Array<std::uint64_t>, Array<std::uint64_t>>;

Counted finish(ChunkCounter& counter) {
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

// (merges, flat; the count of each; the text's tokens after each)
using Trained = std::tuple<Array<Id>, Array<std::uint64_t>, Array<std::uint64_t>>;

Trained train_bpe(nb::bytes chunks, Input<std::uint64_t> ends, Input<std::uint64_t> counts,
                  std::size_t tokens, const std::string& ties, std::uint64_t min_frequency,
                  std::size_t max_token_length, nb::object watch) {
    bpe::CountedChunks counted;
    counted.bytes = reinterpret_cast<const std::uint8_t*>(chunks.c_str());
    counted.ends.assign(ends.data(), ends.data() + ends.size());
    counted.counts.assign(counts.data(), counts.data() + counts.size());
    std::uint64_t before = 0;
    for (const std::uint64_t end : counted.ends) {
        if (end < before || end > chunks.size()) throw nb::value_error("chunk ends out of order");
        before = end;
    }
    if (counted.counts.size() != counted.ends.size()) {
        throw nb::value_error("as many counts as chunks, please");
    }
    bpe::TrainingOptions options;
    options.tokens = tokens;
    options.min_frequency = min_frequency;
    options.max_token_length = max_token_length;
    if (ties == "smallest-pair") {
        options.ties = bpe::Ties::kSmallestPair;
    } else if (ties != "first-seen") {
        throw nb::value_error("ties must be \"first-seen\" or \"smallest-pair\"");
    }

    // Python hears of the progress, and of Ctrl-C, some times a second.
    using Clock = std::chrono::steady_clock;
    auto heard = Clock::now();
    std::size_t done = 0;
    const auto tell = [&](const bpe::MergeRule& merge, std::uint64_t count) {
        ++done;
        if (Clock::now() - heard < std::chrono::milliseconds(50)) return true;
        nb::gil_scoped_acquire acquire;
        if (PyErr_CheckSignals() != 0) throw nb::python_error();
        if (!watch.is_none()) watch(done, merge.left, merge.right, count);
        heard = Clock::now();
        return true;
    };
    bpe::Training training;
    {
        nb::gil_scoped_release release;
        training = bpe::train(counted, options, tell);
    }
    Ids flat;
    for (const bpe::MergeRule& merge : training.merges) {
        for (const Id id : {merge.left, merge.right, merge.id}) flat.push(id);
    }
    return {to_numpy(std::move(flat)), to_numpy(std::move(training.counts)),
            to_numpy(std::move(training.tokens))};
}

}  // namespace

void bind_train(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<ChunkCounter>(module, "ChunkCounter")
        .def(nb::new_([](const std::string& family, const std::string& level) {
                 return new ChunkCounter(family_named(family), isa::choose(level));
             }),
             "family"_a, "instruction_set"_a)
        .def("add_texts", &add_texts, "texts"_a, "threads"_a)
        .def("add_slices", &add_slices, "text"_a, "bounds"_a, "threads"_a)
        .def("add_chunks", &add_chunks, "text"_a, "bounds"_a, "counts"_a)
        .def("finish", &finish);

    module.def("train_bpe", &train_bpe, "chunks"_a, "ends"_a, "counts"_a, "tokens"_a, "ties"_a,
               "min_frequency"_a, "max_token_length"_a, "watch"_a.none());
}

}  // namespace toksmith::bindings

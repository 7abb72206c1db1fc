// Binds the counting of chunks and words.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>

#include "buffers.hpp"
#include "counting/chunk_counter.hpp"
#include "counting/counted_pieces.hpp"
#include "counting/counted_stream.hpp"
#include "counting/distinct_chunks.hpp"
#include "counting/word_counter.hpp"
#include "gil.hpp"

namespace toksmith::bindings {
namespace {

// The chunks, concatenated; the end of each chunk; its count.
using Counted = std::tuple<nb::bytes, Array<std::uint64_t>, Array<std::uint64_t>>;

Counted to_python(const DistinctChunks& chunks) {
    std::vector<std::uint64_t> ends, counts;
    nb::bytes bytes = nb::steal<nb::bytes>(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(chunks.total_bytes())));
    if (!bytes.is_valid()) throw nb::python_error();
    auto* out = reinterpret_cast<std::uint8_t*>(PyBytes_AsString(bytes.ptr()));
    {
        const WithoutGil without_gil;
        ends.reserve(chunks.entries().size());
        counts.reserve(chunks.entries().size());
        InterruptionPoints<1024> points;
        std::uint64_t end = 0;
        for (const DistinctChunks::Entry& entry : chunks.entries()) {
            std::memcpy(out + end, entry.bytes(), entry.size());
            ends.push_back(end += entry.size());
            counts.push_back(entry.count);
            points.step();
        }
    }
    return {bytes, to_numpy(std::move(ends)), to_numpy(std::move(counts))};
}

template <typename Counter>
void add_texts(Counter& counter, const Texts& texts, std::size_t threads) {
    const TextViews views(texts);
    const std::vector<Text> documents = views.texts();
    const WithoutGil without_gil;
    counter.add(documents, threads);
}

template <typename Counter>
void add_slices(Counter& counter, nb::handle text, InputRows<std::int64_t> bounds,
                std::size_t threads) {
    const TextView view(text);
    const std::vector<Text> documents = slices(view.text(), bounds);
    const WithoutGil without_gil;
    counter.add(documents, threads);
}

void add_chunks(ChunkCounter& counter, nb::handle text, InputRows<std::int64_t> bounds,
                Input<std::uint64_t> counts) {
    const TextView view(text);
    const std::vector<Text> chunks = slices(view.text(), bounds);
    if (counts.size() != chunks.size()) throw nb::value_error("counts needs one count per chunk");
    const std::vector<std::uint64_t> copied(counts.data(), counts.data() + counts.size());
    const WithoutGil without_gil;
    counter.add_chunks(chunks, copied);
}

Array<std::uint64_t> chunks_of(const ChunkCounter& counter, const Texts& texts) {
    const TextViews views(texts);
    const std::vector<Text> documents = views.texts();
    std::vector<std::uint64_t> found;
    {
        const WithoutGil without_gil;
        found = counter.chunks_of(documents);
    }
    return to_numpy(std::move(found));
}

Counted finish(ChunkCounter& counter) {
    DistinctChunks chunks;
    {
        const WithoutGil without_gil;
        chunks = counter.finish();
    }
    return to_python(chunks);
}

// Converts std::system_error to OSError, and SpillFull to BufferError.
void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const std::system_error& error) {
        errno = error.code().value();
        PyErr_SetFromErrno(PyExc_OSError);
    } catch (const SpillFull& full) {
        PyErr_SetString(PyExc_BufferError, full.what());
    }
}

using Tallies = std::tuple<Array<std::uint64_t>, Array<std::uint64_t>>;

// Returns the number of chunks, and that of their bytes, by count.
Tallies to_python(const SpilledCounts::Tallies& tallies) {
    std::vector<std::uint64_t> chunks, bytes;
    for (const auto& tally : tallies) {
        chunks.push_back(tally.chunks);
        bytes.push_back(tally.bytes);
    }
    return {to_numpy(std::move(chunks)), to_numpy(std::move(bytes))};
}

// Merges the spilled counts; without any, the tallies are empty.
Tallies merge(ChunkCounter& counter, std::uint64_t min_count, std::uint64_t unit,
              std::size_t memory) {
    std::optional<SpilledCounts::Tallies> tallies;
    {
        const WithoutGil without_gil;
        if (SpilledCounts* spilled = counter.spilled()) {
            tallies = spilled->merge(min_count, unit, memory);
        }
    }
    if (!tallies)
        return {to_numpy(std::vector<std::uint64_t>{}), to_numpy(std::vector<std::uint64_t>{})};
    return to_python(*tallies);
}

template <typename Counter>
Tallies estimate(const Counter& counter, std::uint64_t unit) {
    return to_python(counter.estimate(unit));
}

Counted merged(ChunkCounter& counter) {
    SpilledCounts* spilled = counter.spilled();
    if (!spilled) throw nb::value_error("nothing was spilled: use finish() instead of merged()");
    nb::bytes bytes = nb::steal<nb::bytes>(
        PyBytes_FromStringAndSize(nullptr, static_cast<Py_ssize_t>(spilled->chunk_bytes())));
    if (!bytes.is_valid()) throw nb::python_error();
    auto* out = reinterpret_cast<std::uint8_t*>(PyBytes_AsString(bytes.ptr()));
    std::vector<std::uint64_t> ends, counts;
    {
        const WithoutGil without_gil;
        ends.reserve(spilled->chunks());
        counts.reserve(spilled->chunks());
        std::uint64_t end = 0;
        const auto take = [&](const Record& record) {
            std::memcpy(out + end, record.bytes, record.size);
            ends.push_back(end += record.size);
            counts.push_back(record.count);
        };
        spilled->visit(take);
    }
    return {bytes, to_numpy(std::move(ends)), to_numpy(std::move(counts))};
}

// Merges the spilled counts. Returns whether there are any.
bool merge_words(WordCounter& counter, std::uint64_t min_count, std::uint64_t unit,
                 std::size_t memory) {
    const WithoutGil without_gil;
    WordCounter::Spilled* spilled = counter.spilled();
    if (!spilled) return false;
    spilled->chunks.merge(min_count, unit, memory);
    spilled->plain.merge(min_count, unit, memory);
    return true;
}

// The counted chunks in batches. Keeps nothing of a counter whose chunks are all in memory.
CountedStream* stream(ChunkCounter& counter, std::uint64_t min_count) {
    const WithoutGil without_gil;
    if (SpilledCounts* spilled = counter.spilled()) return new CountedStream(*spilled);
    return new CountedStream(counter.finish(), min_count);
}

// The merged words of plain chunks, or the other chunks, in batches.
CountedStream* stream_words(WordCounter& counter, bool plain) {
    const WithoutGil without_gil;
    WordCounter::Spilled* spilled = counter.spilled();
    if (!spilled) throw std::invalid_argument("nothing was spilled: use finish()");
    return new CountedStream(plain ? spilled->plain : spilled->chunks);
}

Counted next_batch(CountedStream& stream, std::size_t chunks, std::size_t bytes) {
    CountedStream::Batch batch;
    {
        const WithoutGil without_gil;
        batch = stream.next(chunks, bytes);
    }
    return {nb::bytes(batch.bytes.data(), batch.bytes.size()), to_numpy(std::move(batch.ends)),
            to_numpy(std::move(batch.counts))};
}

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> totals(const CountedStream& stream) {
    return {stream.totals().chunks, stream.totals().occurrences, stream.totals().bytes};
}

// A table with one byte for each ASCII character.
std::array<std::uint8_t, 128> of_ascii(const nb::bytes& table) {
    std::array<std::uint8_t, 128> result{};
    if (table.size() != result.size())
        throw nb::value_error("a table of ASCII characters needs 128 bytes");
    std::memcpy(result.data(), table.c_str(), result.size());
    return result;
}

PlainRules* plain_rules(const nb::bytes& letters, const nb::bytes& ends, const nb::bytes& starts,
                        bool drop_spaces, const std::vector<std::string>& symbols) {
    auto rules = std::make_unique<PlainRules>(
        PlainRules{of_ascii(letters), of_ascii(ends), of_ascii(starts), drop_spaces, {}});
    std::copy_if(symbols.begin(), symbols.end(), std::back_inserter(rules->symbols),
                 [](const std::string& symbol) { return !symbol.empty(); });
    return rules.release();
}

// Returns (all other chunks, words of plain chunks).
std::tuple<Counted, Counted> found_words(WordCounter& counter) {
    WordCounter::Found found;
    {
        const WithoutGil without_gil;
        found = counter.finish();
    }
    return {to_python(found.chunks), to_python(found.plain)};
}

CountedTexts counted_texts(const TextView& text, const Input<std::uint64_t>& ends,
                           const Input<std::uint64_t>& counts) {
    const Text whole = text.text();
    if (ends.size() != counts.size()) throw nb::value_error("counts needs one count per chunk");
    const std::uint64_t* const last = ends.data() + ends.size();
    if (!std::is_sorted(ends.data(), last) || (ends.size() > 0 && last[-1] > whole.size()))
        throw nb::value_error("chunk ends must ascend and lie inside the chunks");
    return {whole.begin, {ends.data(), ends.size()}, {counts.data(), counts.size()}};
}

Counted pieces_of(nb::handle pieces, Input<std::uint64_t> piece_ends,
                  Input<std::uint64_t> piece_counts, nb::handle chunks, Input<std::uint64_t> ends,
                  Input<std::uint64_t> counts, const StageRunner& stages, std::size_t threads) {
    const TextView piece_view(pieces), chunk_view(chunks);
    DistinctChunks found;
    {
        const CountedTexts known = counted_texts(piece_view, piece_ends, piece_counts);
        const CountedTexts others = counted_texts(chunk_view, ends, counts);
        const WithoutGil without_gil;
        found = count_pieces(known, others, stages, threads);
    }
    return to_python(found);
}

std::tuple<std::uint64_t, std::uint64_t, std::uint64_t> lines(const WordCounter& counter) {
    return {counter.lines().counted, counter.lines().too_long, counter.lines().reserved};
}

}  // namespace

void bind_counting(nb::module_& module) {
    using namespace nb::literals;

    nb::register_exception_translator(&translate);
    nb::class_<ChunkCounter>(module, "ChunkCounter")
        .def(nb::new_([](const Splitter& splitter, const std::string& level) {
                 return new ChunkCounter(splitter, isa::choose(level));
             }),
             "splitter"_a, "instruction_set"_a)
        .def("add_texts", &add_texts<ChunkCounter>, "texts"_a, "threads"_a)
        .def("add_slices", &add_slices<ChunkCounter>, "text"_a, "bounds"_a, "threads"_a)
        .def("add_chunks", &add_chunks, "text"_a, "bounds"_a, "counts"_a)
        .def("chunks_of", &chunks_of, "texts"_a)
        .def("finish", &finish)
        .def("limit", &ChunkCounter::limit, "memory"_a, "descriptor"_a, "space"_a)
        .def_prop_ro("spilled", &ChunkCounter::spilled_bytes)
        .def_prop_ro("file_size", &ChunkCounter::file_size)
        .def("weigh", &ChunkCounter::weigh, "weight"_a)
        .def("estimate", &estimate<ChunkCounter>, "unit"_a)
        .def("merge", &merge, "min_count"_a, "unit"_a, "memory"_a)
        .def("merged", &merged)
        .def("stream", &stream, "min_count"_a, nb::keep_alive<0, 1>());

    nb::class_<CountedStream>(module, "CountedStream")
        .def_prop_ro("totals", &totals)
        .def("next", &next_batch, "chunks"_a, "size"_a);

    nb::class_<PlainRules>(module, "PlainRules")
        .def(nb::new_(&plain_rules), "letters"_a, "ends"_a, "starts"_a, "drop_spaces"_a,
             "symbols"_a);

    nb::class_<WordCounter>(module, "WordCounter")
        .def(nb::new_([](bool words, std::size_t longest, bool reserved, const PlainRules* plain,
                         const StageRunner* stages) {
                 WordCounter::Options options{words, longest, reserved};
                 if (plain) options.plain = *plain;
                 if (stages) options.cut_table = stages->cut_table();
                 return new WordCounter(options);
             }),
             "words"_a, "longest"_a, "reserved"_a, "plain"_a.none(), "stages"_a.none())
        .def("add_texts", &add_texts<WordCounter>, "texts"_a, "threads"_a)
        .def("add_slices", &add_slices<WordCounter>, "text"_a, "bounds"_a, "threads"_a)
        .def("finish", &found_words)
        .def("limit", &WordCounter::limit, "memory"_a, "chunks"_a, "plain"_a, "space"_a)
        .def_prop_ro("spilled", &WordCounter::spilled_bytes)
        .def_prop_ro("file_size", &WordCounter::file_size)
        .def("estimate", &estimate<WordCounter>, "unit"_a)
        .def("weigh", &WordCounter::weigh, "weight"_a)
        .def("merge", &merge_words, "min_count"_a, "unit"_a, "memory"_a)
        .def("stream", &stream_words, "plain"_a, nb::keep_alive<0, 1>())
        .def("lines", &lines);

    module.def("count_pieces", &pieces_of, "pieces"_a, "piece_ends"_a, "piece_counts"_a, "chunks"_a,
               "ends"_a, "counts"_a, "stages"_a, "threads"_a,
               "Return counted pieces, and those that the stages make of counted chunks.");
}

}  // namespace toksmith::bindings

// Distinct chunks as arrays for Python.
#pragma once

#include <cstring>
#include <tuple>
#include <vector>

#include "buffers.hpp"
#include "counting/distinct_chunks.hpp"
#include "gil.hpp"

namespace toksmith::bindings {

// The chunks, concatenated; the end of each, and its count.
using Counted = std::tuple<nb::bytes, Array<std::uint64_t>, Array<std::uint64_t>>;

inline Counted to_python(const DistinctChunks& chunks) {
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

}  // namespace toksmith::bindings

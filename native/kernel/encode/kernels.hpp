// The encode kernels: the loops over the chunks of a text, compiled once for each instruction set.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/id_array.hpp"
#include "base/stop.hpp"
#include "cache/char_cache.hpp"
#include "cache/chunk_cache.hpp"
#include "encode/buffer_pool.hpp"
#include "encode/char_runs.hpp"
#include "encode/chunk_queue.hpp"
#include "encode/input_text.hpp"
#include "encode/pending_misses.hpp"
#include "models/model.hpp"
#include "simd/isa.hpp"
#include "simd/to_utf8.hpp"
#include "split/cut_table.hpp"
#include "split/splitter.hpp"
#include "text/text.hpp"
#include "vocab/adjacency_filter.hpp"

namespace toksmith {

// A document, or a stretch of one that no chunk crosses.
struct Part {
    Text text;
    bool starts;  // whether it is the start of its document
};

// A buffer whose contents are not kept between uses.
class Utf8Buffer {
 public:
    std::uint8_t* room(std::size_t bytes) {
        if (bytes > size_) {
            trim(0);  // first, so that the size is right if there is no memory
            bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
            size_ = bytes;
        }
        return bytes_.get();
    }
    // Frees the buffer if it is larger.
    void trim(std::size_t most) {
        if (size_ <= most) return;
        bytes_.reset();
        size_ = 0;
    }

 private:
    std::unique_ptr<std::uint8_t[]> bytes_;
    std::size_t size_ = 0;
};

// The caches of a call, for all its threads.
struct Caches {
    Caches(std::size_t bytes, std::size_t text) : chunks(bytes, text) {}
    ChunkCache chunks;
    CharCache singles;
};

// What a thread needs to encode: its view of the caches, and its buffers.
struct Worker {
    Worker(const Model& model, Caches& caches)
        : cache(caches.chunks), singles(caches.singles), scratch(model.scratch()) {}

    // So many bytes of text were encoded. An interruption point once per kUnchecked of them.
    void encoded(std::size_t bytes) {
        unchecked += bytes;
        if (unchecked < kUnchecked) [[likely]]
            return;
        unchecked = 0;
        interruption_point();
    }
    static constexpr std::size_t kUnchecked = std::size_t{1} << 14;  // 40 µs of known text

    // Frees each buffer larger than `bytes`.
    void trim(std::size_t bytes) {
        utf8.trim(bytes);
        spare.trim(bytes);
        scratch->trim(bytes);
        for (IdArray* const buffer : {&missed, &ids, &misses.more}) {
            if (buffer->capacity() * sizeof(Id) > bytes) *buffer = IdArray();
        }
        if (prefixed_chunk.capacity() > bytes) prefixed_chunk = {};
        if (parts.capacity() * sizeof(Part) > bytes) parts = {};
    }

    ChunkCache::Handle cache;
    CharCache& singles;
    std::unique_ptr<Model::Scratch> scratch;
    PendingMisses misses;
    IdArray missed;
    IdArray ids;                               // of a short document
    BufferPool spare;                          // for the ids of a run
    std::vector<Part> parts;                   // the parts that are being encoded
    Utf8Buffer utf8;                           // of parts that are given as characters
    std::vector<std::uint8_t> prefixed_chunk;  // a first chunk with the space that is put before it
    std::size_t unchecked = 0;                 // bytes since the last interruption point
};

struct EncodeKernels {
    // `ends` gets the end of each part, in ids.
    using Encode = void (*)(std::span<const Part>, const Model&, Worker&, IdArray&,
                            std::size_t* ends);
    using Count = std::uint64_t (*)(std::span<const Part>, const Model&, Worker&);

    // Writes characters as UTF-8 and returns where they end; up to to_utf8::kBytes after that may
    // be overwritten. A surrogate pair becomes the character it encodes, others become U+FFFD.
    using ToUtf8 = std::uint8_t* (*)(const InputText&, std::uint8_t* to);

    ToUtf8 to_utf8;
    // Indexed by Family.
    std::array<Encode, kFamilies> encode;  // appends the ids of the parts
    std::array<Count, kFamilies> count;    // the number of their ids, if no sum is carried
};

const EncodeKernels& kernels_scalar();
const EncodeKernels& kernels_avx2();
const EncodeKernels& kernels_avx512();

inline const EncodeKernels& kernels_for(isa::Level level) {
    switch (level) {
        case isa::Level::kAvx512:
            return kernels_avx512();
        case isa::Level::kAvx2:
            return kernels_avx2();
        default:
            return kernels_scalar();
    }
}

}  // namespace toksmith

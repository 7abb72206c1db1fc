// The encode kernels: the chunk loops, compiled once for each instruction set.
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
#include "vocab/whole_tokens.hpp"

namespace toksmith {

// A document, or a part of one whose ends no chunk crosses.
struct Part {
    Text text;
    bool starts;  // it is the start of its document
};

// A reusable buffer. Its contents are undefined after room().
class Utf8Buffer {
 public:
    std::uint8_t* room(std::size_t bytes) {
        if (bytes > size_) {
            trim(0);  // first, so that size_ is right if the allocation fails
            bytes_ = std::make_unique_for_overwrite<std::uint8_t[]>(bytes);
            size_ = bytes;
        }
        return bytes_.get();
    }
    // Frees the buffer if it has more than `most` bytes.
    void trim(std::size_t most) {
        if (size_ <= most) return;
        bytes_.reset();
        size_ = 0;
    }

 private:
    std::unique_ptr<std::uint8_t[]> bytes_;
    std::size_t size_ = 0;
};

// The caches that all threads of a call share.
struct Caches {
    Caches(std::size_t bytes, std::size_t text) : chunks(bytes, text) {}
    ChunkCache chunks;
    CharCache singles;
};

// The state of one thread: its view of the caches, and its buffers.
struct Worker {
    Worker(const Model& model, Caches& caches)
        : cache(caches.chunks), singles(caches.singles), scratch(model.scratch()) {}

    // Reports that `bytes` bytes of text were encoded. Has an interruption point per kUnchecked
    // bytes.
    void encoded(std::size_t bytes) {
        unchecked += bytes;
        if (unchecked < kUnchecked) [[likely]]
            return;
        unchecked = 0;
        interruption_point();
    }
    static constexpr std::size_t kUnchecked = std::size_t{1} << 14;  // bytes, about 40 µs

    // Frees each buffer of more than `bytes` bytes.
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
    IdArray ids;                               // the ids of a short document
    BufferPool spare;                          // for the ids of tasks
    std::vector<Part> parts;                   // the parts of the current task
    Utf8Buffer utf8;                           // the parts converted from a str
    std::vector<std::uint8_t> prefixed_chunk;  // a first chunk with the inserted space
    std::size_t unchecked = 0;                 // bytes since the last interruption point
};

struct EncodeKernels {
    // Receives the end of each part, as an index of `out`, in `ends`.
    using Encode = void (*)(std::span<const Part>, const Splitter&, const Model&, Worker&, IdArray&,
                            std::size_t* ends);
    using Count = std::uint64_t (*)(std::span<const Part>, const Splitter&, const Model&, Worker&);

    // Converts characters to UTF-8 and returns the end of the output; up to to_utf8::kBytes after
    // it may be overwritten. A surrogate pair becomes the character it encodes; other surrogates
    // become U+FFFD.
    using ToUtf8 = std::uint8_t* (*)(const InputText&, std::uint8_t* to);

    ToUtf8 to_utf8;
    // Indexed by Family.
    std::array<Encode, kFamilies> encode;  // appends the ids of the parts
    std::array<Count, kFamilies> count;    // their number; not for models with a carried sum
};

const EncodeKernels& kernels_scalar();
const EncodeKernels& kernels_avx2();
const EncodeKernels& kernels_avx512();
const EncodeKernels& kernels_neon();

inline const EncodeKernels& kernels_for(isa::Level level) {
    switch (level) {
        case isa::Level::kAvx512:
            return kernels_avx512();
        case isa::Level::kAvx2:
            return kernels_avx2();
        case isa::Level::kNeon:
            return kernels_neon();
        default:
            return kernels_scalar();
    }
}

}  // namespace toksmith

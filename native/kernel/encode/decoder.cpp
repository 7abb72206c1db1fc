#include "encode/decoder.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "parallel/parallel.hpp"

namespace toksmith {
namespace {

// Most tokens are shorter than this: copying so many bytes at once is cheaper than counting them.
constexpr std::size_t kStride = 16;

}  // namespace

Decoder::Decoder(std::vector<std::uint8_t> bytes, std::vector<std::uint64_t> offsets)
    : bytes_(std::move(bytes)), offsets_(std::move(offsets)) {
    if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != bytes_.size() ||
        !std::is_sorted(offsets_.begin(), offsets_.end())) {
        throw std::invalid_argument("token offsets do not fit the token bytes");
    }
    bytes_.resize(bytes_.size() + kStride);
}

std::size_t Decoder::first_unknown(const Id* ids, std::size_t count) const {
    const std::size_t size = offsets_.size() - 1;
    for (std::size_t i = 0; i < count; ++i) {
        if (ids[i] >= size || offsets_[ids[i]] == offsets_[ids[i] + 1]) return i;
    }
    return kAllKnown;
}

std::size_t Decoder::measure(const Id* ids, std::size_t count) const {
    std::size_t total = 0;
    for (std::size_t i = 0; i < count; ++i) total += offsets_[ids[i] + 1] - offsets_[ids[i]];
    return total;
}

void Decoder::decode(const Id* ids, std::size_t count, std::uint8_t* out,
                     std::size_t threads) const {
    const std::size_t parts = std::max<std::size_t>(1, std::min(threads, count >> 16));
    std::vector<std::size_t> firsts(parts + 1), starts(parts + 1, 0);
    for (std::size_t i = 0; i <= parts; ++i) firsts[i] = count * i / parts;
    run_on_threads(parts, [&](std::size_t i) {
        starts[i + 1] = measure(ids + firsts[i], firsts[i + 1] - firsts[i]);
    });
    for (std::size_t i = 0; i < parts; ++i) starts[i + 1] += starts[i];
    run_on_threads(parts, [&](std::size_t i) {
        decode_range(ids + firsts[i], firsts[i + 1] - firsts[i], out + starts[i],
                     out + starts[i + 1]);
    });
}

void Decoder::decode_range(const Id* ids, std::size_t count, std::uint8_t* out,
                           std::uint8_t* end) const {
    for (std::size_t i = 0; i < count; ++i) {
        const std::uint64_t start = offsets_[ids[i]];
        const std::size_t size = offsets_[ids[i] + 1] - start;
        // A stride may overrun into what the next token overwrites, but never past the end.
        if (size <= kStride && static_cast<std::size_t>(end - out) >= kStride) {
            std::memcpy(out, bytes_.data() + start, kStride);
        } else {
            std::memcpy(out, bytes_.data() + start, size);
        }
        out += size;
    }
}

}  // namespace toksmith

#include "encode/decoder.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "parallel/parallel.hpp"

namespace toksmith {

Decoder::Decoder(std::vector<std::uint8_t> bytes, std::vector<std::uint64_t> offsets,
                 const std::vector<std::uint8_t>& known)
    : bytes_(std::move(bytes)), offsets_(std::move(offsets)) {
    if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != bytes_.size() ||
        !std::is_sorted(offsets_.begin(), offsets_.end())) {
        throw std::invalid_argument("token offsets do not fit the token bytes");
    }
    const std::size_t count = offsets_.size() - 1;
    if (!known.empty() && known.size() != count) {
        throw std::invalid_argument("it is not said of each id whether it is known");
    }
    entries_.resize(count + 1);
    for (std::size_t id = 0; id < count; ++id) {
        const std::size_t size = offsets_[id + 1] - offsets_[id];
        const bool is_known = known.empty() ? size > 0 : known[id] != 0;
        entries_[id].size = !is_known         ? kUnknown
                            : size >= kStride ? kLong
                                              : static_cast<std::uint8_t>(size);
        std::copy_n(bytes_.data() + offsets_[id], std::min(size, kStride - 1), entries_[id].bytes);
    }
    entries_[count].size = kUnknown;
    sizes_.reserve(count + 1);
    for (const Entry& entry : entries_) sizes_.push_back(entry.size);
}

std::size_t Decoder::first_unknown(const Id* ids, std::size_t count) const {
    const Id* found =
        std::find_if(ids, ids + count, [&](Id id) { return sizes_[place(id)] == kUnknown; });
    return found == ids + count ? kAllKnown : static_cast<std::size_t>(found - ids);
}

Decoder::Parts Decoder::measure(const Id* ids, std::size_t count, std::size_t threads) const {
    const std::size_t parts = std::max<std::size_t>(1, std::min(threads, count >> 16));
    Parts result{std::vector<std::size_t>(parts + 1), std::vector<std::size_t>(parts + 1)};
    for (std::size_t i = 0; i <= parts; ++i) result.firsts[i] = count * i / parts;
    std::vector<Measure> found(parts);
    for_each_on_threads(parts, parts, [&](std::size_t i) {
        found[i] = measure_range(ids + result.firsts[i], ids + result.firsts[i + 1]);
    });
    for (std::size_t i = 0; i < parts; ++i) {
        if (!found[i].known) return {};
        result.starts[i + 1] = result.starts[i] + found[i].bytes;
        result.some_empty |= found[i].some_empty;
    }
    return result;
}

void Decoder::decode(const Id* ids, const Parts& parts, std::uint8_t* out) const {
    const std::size_t count = parts.firsts.size() - 1;
    for_each_on_threads(count, count, [&](std::size_t i) {
        decode_range(ids + parts.firsts[i], ids + parts.firsts[i + 1], out + parts.starts[i],
                     out + parts.starts[i + 1]);
    });
}

Decoder::Measure Decoder::measure_range(const Id* ids, const Id* last) const {
    Measure found;
    for (; ids < last; ++ids) {
        const std::uint8_t size = sizes_[place(*ids)];
        found.bytes += size;
        found.some_empty |= size == 0;
        if (size >= kLong) [[unlikely]] {
            if (size == kUnknown) {
                found.known = false;
                break;
            }
            found.bytes += offsets_[*ids + 1] - offsets_[*ids] - kLong;
        }
    }
    return found;
}

// Stays between `out` and `end` whatever the ids: they may change while no GIL is held.
void Decoder::decode_range(const Id* ids, const Id* last, std::uint8_t* out,
                           std::uint8_t* end) const {
    for (; ids < last; ++ids) {
        const std::size_t at = place(*ids);
        const Entry& entry = entries_[at];
        const auto left = static_cast<std::size_t>(end - out);
        // More bytes are copied than the token has; the next one overwrites them.
        if (entry.size < kLong && left >= kStride) [[likely]] {
            std::memcpy(out, &entry, kStride);
            out += entry.size;
            continue;
        }
        if (entry.size == kUnknown) continue;
        const std::size_t size = std::min<std::size_t>(offsets_[at + 1] - offsets_[at], left);
        out = std::copy_n(bytes_.data() + offsets_[at], size, out);
    }
}

}  // namespace toksmith

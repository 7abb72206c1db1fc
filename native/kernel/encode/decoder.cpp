#include "encode/decoder.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <memory>
#include <stdexcept>

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "utf8/from_utf8.hpp"

namespace toksmith {
namespace {

constexpr std::size_t kBlock = std::size_t{1} << 15;  // bytes; stays in the processor's cache

// Populates the pages of a block. Those of a short text are most likely there.
template <typename Unit>
void populate(pages::PageWarmer& warmer, Unit* begin, Unit* end) {
    if ((end - begin) * sizeof(Unit) >= kBlock / 2) warmer.populate(begin, end);
}

}  // namespace

Decoder::Decoder(const std::vector<std::uint8_t>& bytes, std::vector<std::uint64_t> offsets,
                 const std::vector<std::uint8_t>& known)
    : bytes_(bytes.begin(), bytes.end()), offsets_(std::move(offsets)) {
    if (offsets_.empty() || offsets_.front() != 0 || offsets_.back() != bytes_.size() ||
        !std::is_sorted(offsets_.begin(), offsets_.end())) {
        throw std::invalid_argument("token offsets do not fit the token bytes");
    }
    const std::size_t count = offsets_.size() - 1;
    if (!known.empty() && known.size() != count) {
        throw std::invalid_argument("`known` needs one flag for each id");
    }
    entries_.resize(count + 1);
    summaries_.resize(count + 1);
    for (std::size_t id = 0; id < count; ++id) {
        const std::string_view token = bytes_of(id);
        const bool is_known = known.empty() ? !token.empty() : known[id] != 0;
        const std::size_t held = std::min(token.size(), kStride - 1);
        std::copy_n(token.begin(), held, entries_[id].bytes);
        entries_[id].size = !is_known             ? kUnknown
                            : held < token.size() ? kLong
                                                  : static_cast<std::uint8_t>(held);
        Sum of_held;
        of_held.add_characters(token.substr(0, held));
        summaries_[id].characters = of_held.characters & 31;
        summaries_[id].width = of_held.width & 7;
        summaries_[id].inside = token.empty() || utf8::is_continuation(entries_[id].bytes[0]);
        longest_ = std::max(longest_, token.size());
    }
    entries_[count].size = kUnknown;
    for (std::size_t id = 0; id <= count; ++id) summaries_[id].size = entries_[id].size & 31;
}

std::size_t Decoder::first_unknown(const Id* ids, std::size_t count) const {
    const Id* found = std::find_if(ids, ids + count,
                                   [&](Id id) { return summaries_[place(id)].size == kUnknown; });
    return found == ids + count ? kAllKnown : static_cast<std::size_t>(found - ids);
}

Decoder::Parts Decoder::measure(const Id* ids, std::size_t count, std::size_t threads,
                                std::string_view before) const {
    const std::size_t parts = std::max<std::size_t>(1, std::min(threads, count >> 16));
    Sum first;
    first.add_characters(before);
    Parts result{
        .before = before, .starts = std::vector<Parts::Place>(parts + 1), .width = first.width};
    result.starts[0] = {0, before.size(), first.characters};
    for (std::size_t i = 1; i <= parts; ++i) {
        std::size_t& start = result.starts[i].id;
        start = std::max(count * i / parts, result.starts[i - 1].id);
        while (start < count && summaries_[place(ids[start])].inside) ++start;
    }
    std::vector<Sum> sums(parts);
    for_each_on_threads(parts, parts, [&](std::size_t i) {
        sums[i] = sum(ids + result.starts[i].id, ids + result.starts[i + 1].id);
    });
    for (std::size_t i = 0; i < parts; ++i) {
        if (!sums[i].known) return {};
        result.starts[i + 1].byte = result.starts[i].byte + sums[i].bytes;
        result.starts[i + 1].character = result.starts[i].character + sums[i].characters;
        result.width |= sums[i].width;
        result.some_empty |= sums[i].some_empty;
    }
    return result;
}

void Decoder::decode(const Id* ids, const Parts& parts, std::uint8_t* out) const {
    std::copy(parts.before.begin(), parts.before.end(), out);
    const std::size_t count = parts.starts.size() - 1;
    pages::PageWarmer warmer(out, parts.bytes());
    for_each_on_threads(count, count, [&](std::size_t i) {
        const Parts::Place &start = parts.starts[i], &end = parts.starts[i + 1];
        const std::size_t block = kBlock + longest_ + kStride;
        const Id *next = ids + start.id, *const last = ids + end.id;
        std::uint8_t *to = out + start.byte, *const all = out + end.byte, *stop = nullptr;
        while (next < last && stop != all) {
            stop = to + std::min(block, static_cast<std::size_t>(all - to));
            populate(warmer, to, stop);
            next = decode_some(next, last, to, stop);
            interruption_point();
        }
    });
}

bool Decoder::decode_characters(const Id* ids, const Parts& parts, void* out) const {
    if (parts.width >= utf8::kFourBytes) {
        return decode_all(ids, parts, static_cast<std::uint32_t*>(out));
    }
    if (parts.width >= utf8::kTwoBytes) {
        return decode_all(ids, parts, static_cast<std::uint16_t*>(out));
    }
    if (parts.width == utf8::kOneByte) {
        return decode_all(ids, parts, static_cast<std::uint8_t*>(out));
    }
    // All characters are ASCII, unless there are stray continuation bytes.
    if (parts.bytes() != parts.characters()) return false;
    decode(ids, parts, static_cast<std::uint8_t*>(out));
    return true;
}

void Decoder::Sum::add_characters(std::string_view text) {
    for (const char each : text) {
        const auto byte = static_cast<std::uint8_t>(each);
        characters += !utf8::is_continuation(byte);
        width |= utf8::width_by_lead(byte);
    }
}

Decoder::Sum Decoder::sum(const Id* ids, const Id* last) const {
    Sum found;
    InterruptionPoints<std::size_t{1} << 16> points;
    for (; ids < last; ++ids) {
        points.step();
        const Summary each = summaries_[place(*ids)];
        if (each.size < kLong) [[likely]] {
            found.bytes += each.size;
            found.some_empty |= each.size == 0;
            found.characters += each.characters;
            found.width |= each.width;
            continue;
        }
        if (each.size == kUnknown) {
            found.known = false;
            break;
        }
        const std::string_view token = bytes_of(*ids);
        found.bytes += token.size();
        found.add_characters(token);
    }
    return found;
}

// Decodes ids while there is room, and returns the first one that is left. Checks each id again,
// since another thread may change the array while the GIL is released.
const Id* Decoder::decode_some(const Id* ids, const Id* last, std::uint8_t*& out,
                               const std::uint8_t* end) const {
    std::uint8_t* to = out;
    constexpr std::ptrdiff_t kAhead = 32;  // prefetch distance in ids
    for (; ids < last; ++ids) {
        if (last - ids > kAhead) __builtin_prefetch(&entries_[place(ids[kAhead])]);
        const std::size_t at = place(*ids);
        const Entry& entry = entries_[at];
        const auto room = static_cast<std::size_t>(end - to);
        // Copies more bytes than the token has; the next token overwrites the rest.
        if (entry.size < kLong && room >= kStride) [[likely]] {
            std::memcpy(to, &entry, kStride);
            to += entry.size;
            continue;
        }
        if (entry.size == kUnknown) continue;
        const std::string_view token = bytes_of(at);
        if (token.size() > room) break;
        to = std::copy(token.begin(), token.end(), to);
    }
    out = to;
    return ids;
}

template <typename Unit>
bool Decoder::decode_all(const Id* ids, const Parts& parts, Unit* out) const {
    const auto* before = reinterpret_cast<const std::uint8_t*>(parts.before.data());
    const auto* end_of_before = before + parts.before.size();
    Unit* to = out;
    if (utf8::from_utf8(before, end_of_before, to, out + parts.starts[0].character) !=
        end_of_before) {
        return false;
    }
    const std::size_t count = parts.starts.size() - 1;
    pages::PageWarmer warmer(out, parts.characters() * sizeof(Unit));
    std::atomic<bool> all_valid{true};
    for_each_on_threads(count, count, [&](std::size_t i) {
        if (!decode_part(ids, parts.starts[i], parts.starts[i + 1], warmer, out)) all_valid = false;
    });
    return all_valid;
}

template <typename Unit>
bool Decoder::decode_part(const Id* ids, const Parts::Place& start, const Parts::Place& end,
                          pages::PageWarmer& warmer, Unit* out) const {
    const std::size_t size = std::max(std::min(kBlock, end.byte - start.byte), longest_) + kStride;
    const std::unique_ptr<std::uint8_t[]> block(new std::uint8_t[size]);
    std::uint8_t* filled = block.get();
    const Id *next = ids + start.id, *last = ids + end.id;
    Unit* to = out + start.character;
    Unit* const stop = out + end.character;
    while (next < last) {
        next = decode_some(next, last, filled, block.get() + size);
        populate(warmer, to, to + std::min(filled - block.get(), stop - to));
        const std::uint8_t* rest = utf8::from_utf8(block.get(), filled, to, stop);
        // The remaining bytes of the character are in the next token.
        const auto left = static_cast<std::size_t>(filled - rest);
        if (left >= 4) return false;
        std::memmove(block.get(), rest, left);
        filled = block.get() + left;
        interruption_point();
    }
    return filled == block.get() && to == stop;
}

}  // namespace toksmith

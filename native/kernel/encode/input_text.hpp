// A text as Python passes it: UTF-8, or the characters of a str, which all have one width. The
// thread that encodes a part of a str first converts it to UTF-8, in a buffer that stays in the
// processor's cache. Unpaired surrogates become U+FFFD.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "text/text.hpp"
#include "utf8/encode.hpp"
#include "utf8/from_utf8.hpp"

namespace toksmith {

class InputText {
 public:
    // Implicit, since UTF-8 is used as it is.
    InputText(Text text) : begin_(text.begin), size_(text.size()) {}
    // Characters of one, two or four bytes.
    InputText(const void* begin, std::size_t size, utf8::Width width)
        : begin_(begin), size_(size), width_(width) {}

    bool is_utf8() const { return width_ == utf8::kAscii; }
    Text utf8() const {
        const auto* begin = static_cast<const std::uint8_t*>(begin_);
        return {begin, begin + size_};
    }

    std::size_t size() const { return size_; }  // in bytes of UTF-8, or in characters of a str
    InputText slice(std::size_t from, std::size_t to) const {
        const auto* bytes = static_cast<const std::uint8_t*>(begin_);
        return InputText(bytes + from * std::max(1u, unsigned{width_}), to - from, width_);
    }

    // Returns use(units, size) with the characters of a str.
    template <typename Use>
    auto with_units(const Use& use) const {
        switch (width_) {
            case utf8::kOneByte:
                return use(static_cast<const std::uint8_t*>(begin_), size_);
            case utf8::kTwoBytes:
                return use(static_cast<const std::uint16_t*>(begin_), size_);
            default:
                return use(static_cast<const std::uint32_t*>(begin_), size_);
        }
    }

    // Whether the index `place` is between the two halves of a surrogate pair.
    bool is_inside_pair(std::size_t place) const {
        if (is_utf8() || place == 0 || place >= size_) return false;
        return with_units([place](const auto* units, std::size_t) {
            return utf8::is_pair(units[place - 1], units[place]);
        });
    }
    // The index after the first `characters` characters. A surrogate pair counts as one.
    std::size_t end_of(std::size_t characters) const {
        std::size_t end = 0;
        for (; characters > 0; --characters) end += is_inside_pair(end + 1) ? 2 : 1;
        return end;
    }

    // The maximum size in UTF-8, and an estimate of it from a sample of the characters.
    std::size_t most_bytes() const {
        constexpr std::uint8_t kMost[] = {1, 2, 3, 0, utf8::kMostBytes};  // by width
        return size_ * kMost[width_];
    }
    std::size_t about_bytes() const {
        if (is_utf8()) return size_;
        return with_units([](const auto* units, std::size_t size) {
            constexpr std::size_t kStretches = 16, kStretch = 64, kLeastStep = 64 * kStretch;
            const std::size_t step = std::max(size / kStretches, kLeastStep);
            std::size_t seen = 0, bytes = 0;
            for (std::size_t start = 0; start < size; start += step) {
                for (std::size_t i = start; i < std::min(start + kStretch, size); ++i, ++seen)
                    bytes += utf8::size_of(units[i]);
            }
            return seen == 0 ? 0 : size * bytes / seen;
        });
    }

 private:
    const void* begin_;
    std::size_t size_;
    utf8::Width width_ = utf8::kAscii;
};

}  // namespace toksmith

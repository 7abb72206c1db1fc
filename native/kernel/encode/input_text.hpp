// A text as Python gives it: UTF-8, or the characters of a string, all of one width. A string is
// converted to UTF-8 a part at a time, in memory that stays in the cache, by the thread that
// encodes the part. Surrogates that are no pair become U+FFFD.
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
    // Implicit: a text in UTF-8 is used as it is.
    InputText(Text text) : begin_(text.begin), size_(text.size()) {}
    // Characters of one, two or four bytes.
    InputText(const void* begin, std::size_t size, utf8::Width width)
        : begin_(begin), size_(size), width_(width) {}

    bool is_utf8() const { return width_ == utf8::kAscii; }
    Text utf8() const {
        const auto* begin = static_cast<const std::uint8_t*>(begin_);
        return {begin, begin + size_};
    }

    std::size_t size() const { return size_; }  // in bytes of UTF-8, or else in characters
    InputText slice(std::size_t from, std::size_t to) const {
        const auto* bytes = static_cast<const std::uint8_t*>(begin_);
        return InputText(bytes + from * std::max(1u, unsigned{width_}), to - from, width_);
    }

    // Returns use(units, size), for a text that is not UTF-8.
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

    // Whether a place lies inside a surrogate pair.
    bool is_inside_pair(std::size_t place) const {
        if (is_utf8() || place == 0 || place >= size_) return false;
        return with_units([place](const auto* units, std::size_t) {
            return utf8::is_pair(units[place - 1], units[place]);
        });
    }
    // The end of the first so many characters; a pair counts as one.
    std::size_t end_of(std::size_t characters) const {
        std::size_t end = 0;
        for (; characters > 0; --characters) end += is_inside_pair(end + 1) ? 2 : 1;
        return end;
    }

    // The most bytes that it has in UTF-8, and an estimate of them from a sample of its characters.
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

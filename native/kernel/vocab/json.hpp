// Reads JSON of untrusted files. A text that is not plainly right is refused, without a message.
#pragma once

#include <array>
#include <charconv>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <limits>
#include <string>
#include <string_view>

#include "base/id_array.hpp"
#include "utf8/decode.hpp"
#include "utf8/json_escape.hpp"

namespace toksmith::json {

// A text that has to be read with messages for what is wrong.
struct Refused {};

// Returns the value of a JSON number as serde_json computes it for `tokenizers`: the digits as an
// integer, scaled by a power of ten. That is often not the nearest double, and decides between
// segmentations whose scores are sums of the same numbers in another order.
inline double decimal(std::string_view number) {
    static const auto powers = [] {
        std::array<double, 309> made{1};
        for (std::size_t i = 1; i < made.size(); ++i) {
            const std::string text = "1e" + std::to_string(i);
            std::from_chars(text.data(), text.data() + text.size(), made[i]);
        }
        return made;
    }();
    const bool negative = number.starts_with('-');
    if (negative) number.remove_prefix(1);
    std::uint64_t digits = 0;
    int exponent = 0;
    bool is_full = false, in_fraction = false;
    while (!number.empty() && number[0] != 'e' && number[0] != 'E') {
        const char letter = number[0];
        number.remove_prefix(1);
        if (letter == '.') {
            in_fraction = true;
            continue;
        }
        const auto digit = static_cast<std::uint64_t>(letter - '0');
        is_full = is_full || digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
        if (!is_full) digits = digits * 10 + digit;
        exponent += (is_full ? 1 : 0) - (in_fraction ? 1 : 0);
    }
    if (!number.empty()) {
        number.remove_prefix(number.size() > 1 && number[1] == '+' ? 2 : 1);
        int written = 0;
        const char* const end = number.data() + number.size();
        if (std::from_chars(number.data(), end, written).ec != std::errc() ||
            std::abs(written) > 100'000)
            throw Refused();
        exponent += written;
    }
    auto value = static_cast<double>(digits);
    for (; exponent < -308 && value != 0; exponent += 308) value /= 1e308;
    if (exponent > 308 && value != 0) throw Refused();
    if (value != 0) {
        const double power = powers[static_cast<std::size_t>(std::abs(exponent))];
        value = exponent < 0 ? value / power : value * power;
    }
    return negative ? -value : value;
}

// A place in a JSON text, and what can be read there. Throws Refused.
class Reader {
 public:
    explicit Reader(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

    const char* place() const { return p_; }
    char peek() {
        while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
        if (p_ == end_) throw Refused();
        return *p_;
    }
    bool take(char wanted) {
        if (peek() != wanted) return false;
        ++p_;
        return true;
    }
    void expect(char wanted) {
        if (!take(wanted)) throw Refused();
    }

    // Calls item() at each item of a list or object, which it must read.
    template <typename Item>
    void items(char open, char close, Item item) {
        expect(open);
        if (take(close)) return;
        do {
            item();
        } while (take(','));
        expect(close);
    }

    // Appends a string.
    template <typename Bytes>
    void string(Bytes& out) {
        expect('"');
        for (;;) {
            const char* const start = p_;
            while (p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= 32)
                ++p_;
            out.insert(out.end(), start, p_);
            if (p_ == end_) throw Refused();
            if (*p_ == '"') break;
            if (*p_ != '\\') throw Refused();
            ++p_;
            escape(out);
        }
        ++p_;
    }

    // Passes over a value without a check.
    void skip() {
        const char first = peek();
        if (first == '"') return skip_string();
        if (first != '{' && first != '[') {
            while (p_ < end_ && *p_ != ',' && *p_ != '}' && *p_ != ']') ++p_;
            return;
        }
        for (std::size_t depth = 0; p_ < end_;) {
            switch (*p_) {
                case '"':
                    skip_string();
                    continue;
                case '{':
                case '[':
                    ++depth;
                    break;
                case '}':
                case ']':
                    --depth;
                    break;
                default:
                    break;
            }
            ++p_;
            if (depth == 0) return;
        }
        throw Refused();
    }

    Id id() {
        peek();
        const char* const start = p_;
        std::uint32_t value = 0;
        for (; p_ < end_ && *p_ >= '0' && *p_ <= '9' && p_ - start < 9; ++p_)
            value = value * 10 + static_cast<std::uint32_t>(*p_ - '0');
        if (p_ == start || (*start == '0' && p_ - start > 1)) throw Refused();
        return value;
    }

    double number() {
        peek();
        const char* const start = p_;
        const auto digits = [&] {
            const char* const first = p_;
            while (p_ < end_ && *p_ >= '0' && *p_ <= '9') ++p_;
            if (p_ == first) throw Refused();
            return p_ - first;
        };
        if (*p_ == '-') ++p_;
        const char* const first = p_;
        if (digits() > 1 && *first == '0') throw Refused();
        if (p_ < end_ && *p_ == '.') ++p_, digits();
        if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
            ++p_;
            if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
            digits();
        }
        const double value = decimal({start, p_});
        if (!std::isfinite(value)) throw Refused();
        return value;
    }

 private:
    void skip_string() {
        for (++p_; p_ < end_ && *p_ != '"'; ++p_)
            if (*p_ == '\\') ++p_;
        if (p_ >= end_) throw Refused();
        ++p_;
    }

    template <typename Bytes>
    void escape(Bytes& out) {
        std::array<std::uint8_t, utf8::kMostBytes> bytes;
        const std::uint32_t size = unescape(p_, end_, bytes.data());
        if (size == 0) throw Refused();
        for (std::uint32_t i = 0; i < size; ++i)
            out.push_back(static_cast<typename Bytes::value_type>(bytes[i]));
    }

    const char* p_;
    const char* end_;
};

}  // namespace toksmith::json

#include "text/json_lines.hpp"

#include <array>
#include <bit>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

#include "base/stop.hpp"
#include "utf8/json_escape.hpp"

namespace toksmith {
namespace {

constexpr int kDeepest = 64;
constexpr std::ptrdiff_t kLongestNumber = 1000;
constexpr std::ptrdiff_t kBetweenStops = std::ptrdiff_t{1} << 20;

// Returns the next quote, backslash or control character, or `end`. kept: copies the characters
// before it to `out`, which has room for as many bytes as there are until `end`.
template <bool kept>
const char* plain_end(const char* p, const char* end, [[maybe_unused]] std::uint8_t* out) {
#if defined(__SSE2__)
    const auto all = [](char each) { return _mm_set1_epi8(each); };
    for (; end - p >= 16; p += 16) {
        const __m128i some = _mm_loadu_si128(reinterpret_cast<const __m128i*>(p));
        if constexpr (kept) {
            _mm_storeu_si128(reinterpret_cast<__m128i*>(out), some);
            out += 16;
        }
        const __m128i marks =
            _mm_or_si128(_mm_cmpeq_epi8(some, all('"')), _mm_cmpeq_epi8(some, all('\\')));
        const __m128i controls = _mm_cmpeq_epi8(_mm_min_epu8(some, all(' ' - 1)), some);
        const auto found = static_cast<unsigned>(_mm_movemask_epi8(_mm_or_si128(marks, controls)));
        if (found != 0) return p + std::countr_zero(found);
    }
#endif
    if constexpr (std::endian::native == std::endian::little) {
        constexpr std::uint64_t kOnes = 0x0101010101010101, kHigh = 0x8080808080808080;
        for (; end - p >= 8; p += 8) {
            std::uint64_t eight;
            std::memcpy(&eight, p, 8);
            if constexpr (kept) {
                std::memcpy(out, &eight, 8);
                out += 8;
            }
            const std::uint64_t quotes = eight ^ kOnes * '"', slashes = eight ^ kOnes * '\\';
            // The lowest high bit is that of the first byte that is 0, or less than a space: a
            // borrow only changes bytes above it.
            const std::uint64_t found =
                (((quotes - kOnes) & ~quotes) | ((slashes - kOnes) & ~slashes) |
                 ((eight - kOnes * ' ') & ~eight)) &
                kHigh;
            if (found != 0) return p + std::countr_zero(found) / 8;
        }
    }
    for (; p < end && *p != '"' && *p != '\\' && static_cast<std::uint8_t>(*p) >= ' '; ++p) {
        if constexpr (kept) *out++ = static_cast<std::uint8_t>(*p);
    }
    return p;
}

// A place in a line. Each function moves past what it reads, and returns false for a line that must
// be refused.
class Line {
 public:
    Line(const char* begin, const char* end) : p_(begin), end_(end) {}

    bool is_blank() {
        skip_space();
        return p_ == end_;
    }

    // Appends the text at `out`.
    bool read(std::string_view field, std::uint8_t*& out) {
        bool has_field = false;
        if (!take('{') || take('}')) return false;
        do {
            skip_space();
            if (p_ == end_ || *p_ != '"') return false;
            const char* const key = ++p_;
            p_ = plain_end<false>(p_, end_, nullptr);
            if (p_ == end_ || *p_ != '"') return false;
            const bool is_field = std::string_view(key, p_) == field;
            ++p_;
            if (!take(':')) return false;
            if (is_field) {
                if (has_field || !take('"') || !string<true>(out)) return false;
                has_field = true;
            } else if (!value(0)) {
                return false;
            }
        } while (take(','));
        return take('}') && is_blank() && has_field;
    }

 private:
    void skip_space() {
        while (p_ < end_ && (*p_ == ' ' || *p_ == '\t' || *p_ == '\r')) ++p_;
    }

    bool take(char wanted) {
        skip_space();
        if (p_ == end_ || *p_ != wanted) return false;
        ++p_;
        return true;
    }

    bool take_word(std::string_view word) {
        if (!std::string_view(p_, end_).starts_with(word)) return false;
        p_ += word.size();
        return true;
    }

    // Reads the rest of a string after its first quote. kept: appends it at `out`.
    template <bool kept>
    bool string([[maybe_unused]] std::uint8_t*& out) {
        for (;;) {
            const char* const start = p_;
            p_ = plain_end<kept>(p_, end_, out);
            if constexpr (kept) out += p_ - start;
            if (p_ == end_) return false;
            if (*p_ == '"') break;
            if (*p_++ != '\\') return false;
            std::array<std::uint8_t, utf8::kMostBytes>
                unkept;  // an escape is longer than its bytes
            const std::uint32_t size = unescape(p_, end_, kept ? out : unkept.data());
            if (size == 0) return false;
            if constexpr (kept) out += size;
        }
        ++p_;
        return true;
    }

    bool value(int depth) {
        skip_space();
        if (p_ == end_ || depth > kDeepest) return false;
        std::uint8_t* nowhere = nullptr;
        switch (*p_) {
            case '"':
                ++p_;
                return string<false>(nowhere);
            case 't':
                return take_word("true");
            case 'f':
                return take_word("false");
            case 'n':
                return take_word("null");
            case '[':
                ++p_;
                if (take(']')) return true;
                do {
                    if (!value(depth + 1)) return false;
                } while (take(','));
                return take(']');
            case '{':
                ++p_;
                if (take('}')) return true;
                do {
                    if (!take('"') || !string<false>(nowhere) || !take(':') || !value(depth + 1))
                        return false;
                } while (take(','));
                return take('}');
            default:
                return number();
        }
    }

    bool digits() {
        const char* const start = p_;
        while (p_ < end_ && *p_ >= '0' && *p_ <= '9') ++p_;
        return p_ != start;
    }

    bool number() {
        const char* const start = p_;
        if (*p_ == '-') ++p_;
        const char* const first = p_;
        if (!digits() || (*first == '0' && p_ - first > 1)) return false;
        if (p_ < end_ && *p_ == '.') {
            ++p_;
            if (!digits()) return false;
        }
        if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
            ++p_;
            if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
            if (!digits()) return false;
        }
        return p_ - start <= kLongestNumber;
    }

    const char* p_;
    const char* end_;
};

}  // namespace

JsonTexts read_json_lines(Text lines, std::string_view field, std::uint8_t* out, isa::Level level) {
    JsonTexts found;
    const std::uint8_t* const first = out;
    const bool all_valid = utf8::first_invalid(lines.begin, lines.end, level) == lines.end;
    const std::uint8_t* stopped = lines.begin;
    for (const std::uint8_t* start = lines.begin; start < lines.end;) {
        const auto left = static_cast<std::size_t>(lines.end - start);
        const auto* const feed = static_cast<const std::uint8_t*>(std::memchr(start, '\n', left));
        const std::uint8_t* const end = feed != nullptr ? feed : lines.end;
        Line line(reinterpret_cast<const char*>(start), reinterpret_cast<const char*>(end));
        if (!line.is_blank()) {
            std::uint8_t* text = out;
            if ((all_valid || utf8::first_invalid(start, end, level) == end) &&
                line.read(field, text)) {
                out = text;
                found.ends.push_back(out - first);
            } else {
                for (const std::int64_t each :
                     {static_cast<std::int64_t>(found.ends.size()), found.lines,
                      static_cast<std::int64_t>(start - lines.begin),
                      static_cast<std::int64_t>(end - lines.begin)})
                    found.refused.push_back(each);
            }
        }
        ++found.lines;
        start = end + (feed != nullptr);
        if (start - stopped > kBetweenStops) {
            interruption_point();
            stopped = start;
        }
    }
    return found;
}

}  // namespace toksmith

#include "counting/plain_words.hpp"

#include <algorithm>
#include <string_view>
#include <utility>

namespace toksmith {
namespace {

using Byte = std::uint8_t;

constexpr std::uint32_t kNotPlain = 1u << 24, kMayStartSymbol = 2u << 24;

}  // namespace

PlainReader::PlainReader(PlainRules rules) : rules_(std::move(rules)) {
    bytes_.fill(kNotPlain);
    for (std::size_t byte = 0; byte < rules_.letters.size(); ++byte) {
        const Byte letter = rules_.letters[byte];
        if (letter == 0 || letter >= 0x80) continue;
        bytes_[byte] = letter | std::uint32_t{rules_.ends[letter]} << 8 |
                       std::uint32_t{rules_.starts[letter]} << 16;
        for (const std::string& symbol : rules_.symbols) {
            const auto first = static_cast<Byte>(symbol[0]);
            if (first == byte || first == letter) bytes_[byte] |= kMayStartSymbol;
        }
    }
}

std::size_t PlainReader::read(const Byte* begin, const Byte* end, Byte* letters,
                              const Byte** ends) const {
    std::size_t words = 0;
    std::uint32_t last = 0, flags = 0;
    // Without branches on the ends of words, which are unpredictable.
    const auto size = static_cast<std::size_t>(end - begin);
    for (std::size_t i = 0; i < size; ++i) {
        const std::uint32_t byte = bytes_[begin[i]];
        letters[i] = static_cast<Byte>(byte);
        ends[words] = letters + i;
        words += (last & (byte >> 8) & 0xFF00) != 0;
        flags |= byte;
        last = byte;
    }
    if (size == 0 || (flags & kNotPlain) != 0) return 0;
    ends[words++] = letters + size;
    if ((flags & kMayStartSymbol) != 0 &&
        (holds_symbol(begin, end) || holds_symbol(letters, ends[words - 1]))) {
        return 0;
    }
    if (!rules_.drop_spaces && holds_space_alone(letters, ends, words)) return 0;
    return words;
}

bool PlainReader::holds_symbol(const Byte* begin, const Byte* end) const {
    const std::string_view text(reinterpret_cast<const char*>(begin),
                                static_cast<std::size_t>(end - begin));
    return std::any_of(rules_.symbols.begin(), rules_.symbols.end(),
                       [&](const auto& symbol) { return text.find(symbol) != text.npos; });
}

bool PlainReader::holds_space_alone(const Byte* letters, const Byte* const* ends,
                                    std::size_t words) const {
    for (std::size_t i = 0; i < words; letters = ends[i++]) {
        if (*letters == ' ' && ends[i] - letters == 1) return true;
    }
    return false;
}

}  // namespace toksmith

#include "vocab/adjacency_filter.hpp"

#include <string_view>
#include <unordered_set>

namespace toksmith {

AdjacencyFilter::AdjacencyFilter(const Vocabulary& vocabulary) {
    std::unordered_set<std::uint64_t> pairs;
    for (Id id = 0; id < vocabulary.size(); ++id) {
        const std::string_view token = vocabulary[id];
        const auto* begin = reinterpret_cast<const std::uint8_t*>(token.data());
        const auto* end = begin + token.size();
        for (const auto* right = begin + (begin < end); right < end; ++right) {
            if (*right < 0xC0) continue;  // not the first byte of a character beyond ASCII
            const auto* left = right - 1;
            if (*left < 0x80) continue;
            while (left > begin && utf8::is_continuation(*left)) --left;
            const utf8::Char before = utf8::decode(left, right), after = utf8::decode(right, end);
            const bool whole_left = before.code != utf8::kInvalid && left + before.size == right;
            if (whole_left && after.code != utf8::kInvalid) {
                pairs.insert(pair_of(before.code, after.code));
            } else {
                partial_[right[-1] % 64] |= std::uint64_t{1} << *right % 64;
            }
        }
    }
    pairs_.reset(pairs.size());
    for (const std::uint64_t pair : pairs) pairs_.add(pair);
}

void AdjacencyFilter::keep_whole(const WholeTokens& tokens) {
    edges_.reset(2 * tokens.size());
    has_edges_ = !tokens.empty();
    // The code point of a valid character beyond ASCII, else 0: cuts are next to such characters.
    const auto code_of = [](const std::uint8_t* p, const std::uint8_t* end) {
        const std::uint32_t code = p < end ? utf8::decode(p, end).code : 0;
        return code < 0x80 || code == utf8::kInvalid ? 0 : code;
    };
    for (std::size_t i = 0; i < tokens.size(); ++i) {
        const std::string_view token = tokens[i];
        const auto* begin = reinterpret_cast<const std::uint8_t*>(token.data());
        const auto* end = begin + token.size();
        // The start of the character that ends at p.
        const auto before = [begin](const std::uint8_t* p) {
            const auto* start = p - (p > begin);
            while (start > begin && p - start < 4 && utf8::is_continuation(*start)) --start;
            return start;
        };
        if (const std::uint32_t first = code_of(begin, end)) {
            const auto* next = begin + utf8::decode(begin, end).size;
            const std::uint32_t second = code_of(next, end);
            mark(first, kFirst);
            if (second) edges_.add(pair_of(first, second));
            if (!second) mark(first, kFirstAlone);
        }
        const auto* last = before(end);
        if (const std::uint32_t code = code_of(last, end)) {
            const std::uint32_t left = code_of(before(last), last);
            mark(code, kLast);
            if (left) edges_.add(pair_of(left, code));
            if (!left) mark(code, kLastAlone);
        }
    }
}

}  // namespace toksmith

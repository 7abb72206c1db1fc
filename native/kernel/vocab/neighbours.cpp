#include "vocab/neighbours.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "base/recent_values.hpp"
#include "utf8/decode.hpp"
#include "utf8/encode.hpp"

namespace toksmith {
namespace {

template <typename T>
void sort_distinct(std::vector<T>& values) {
    std::ranges::sort(values);
    values.erase(std::unique(values.begin(), values.end()), values.end());
}

void append(std::uint32_t code, std::string& out) {
    std::array<std::uint8_t, utf8::kMostBytes> bytes;
    const std::uint32_t size = utf8::encode(code, bytes.data());
    out.append(reinterpret_cast<const char*>(bytes.data()), size);
}

}  // namespace

std::optional<Neighbours> neighbours_of(const Vocabulary& vocabulary) {
    std::vector<std::uint32_t> characters;
    std::vector<std::uint64_t> pairs;
    RecentValues recent_characters, recent_pairs;
    for (Id id = 0; id < vocabulary.size(); ++id) {
        const std::string_view token = vocabulary[id];
        const auto* p = reinterpret_cast<const std::uint8_t*>(token.data());
        const std::uint8_t* const end = p + token.size();
        std::uint64_t before = 0;
        for (bool first = true; p < end; first = false) {
            const utf8::Char c = utf8::decode(p, end);
            if (c.code == utf8::kInvalid) return std::nullopt;
            p += c.size;
            if (!recent_characters.add(c.code)) characters.push_back(c.code);
            if (!first && !recent_pairs.add(before << 32 | c.code))
                pairs.push_back(before << 32 | c.code);
            before = c.code;
        }
    }
    sort_distinct(characters);
    sort_distinct(pairs);
    Neighbours found;
    for (const std::uint32_t code : characters) append(code, found.characters);
    for (const std::uint64_t pair : pairs) {
        append(static_cast<std::uint32_t>(pair >> 32), found.pairs);
        append(static_cast<std::uint32_t>(pair), found.pairs);
    }
    return found;
}

}  // namespace toksmith

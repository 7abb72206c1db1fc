#include "models/bpe/ranks.hpp"

#include <algorithm>
#include <array>

#include "vocab/token_index.hpp"

namespace toksmith::bpe {
namespace {

constexpr std::uint8_t kNoDigit = 0xFF;

constexpr std::array<std::uint8_t, 256> base64_digits() {
    std::array<std::uint8_t, 256> values{};
    values.fill(kNoDigit);
    constexpr std::string_view digits =
        "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    for (std::size_t i = 0; i < digits.size(); ++i)
        values[static_cast<std::uint8_t>(digits[i])] = static_cast<std::uint8_t>(i);
    return values;
}

constexpr std::array<std::uint8_t, 256> kDigits = base64_digits();

// Appends the decoded bytes. Returns false if the text is empty or not valid padded base64.
bool decode_base64(std::string_view text, std::vector<std::uint8_t>& bytes) {
    if (text.empty() || text.size() % 4 != 0) return false;
    std::size_t padding = 0;
    while (padding < 2 && text[text.size() - 1 - padding] == '=') ++padding;
    for (std::size_t i = 0; i < text.size(); i += 4) {
        const std::size_t digits = i + 4 == text.size() ? 4 - padding : 4;
        std::uint32_t value = 0;
        for (std::size_t j = 0; j < 4; ++j) {
            const std::uint8_t digit =
                j < digits ? kDigits[static_cast<std::uint8_t>(text[i + j])] : 0;
            if (digit == kNoDigit) return false;
            value = value << 6 | digit;
        }
        for (std::size_t j = 0; j + 1 < digits; ++j)
            bytes.push_back(static_cast<std::uint8_t>(value >> (16 - 8 * j)));
    }
    return true;
}

constexpr std::size_t kMostDigits = 8;

// Parses a decimal number of at most kMostDigits digits; returns nothing for any other text.
std::optional<Id> decode_rank(std::string_view text) {
    if (text.empty() || text.size() > kMostDigits) return std::nullopt;
    Id rank = 0;
    for (const char digit : text) {
        if (digit < '0' || digit > '9') return std::nullopt;
        rank = rank * 10 + static_cast<Id>(digit - '0');
    }
    return rank;
}

constexpr std::size_t kNowhere = ~std::size_t{0};

// The tokens sorted by rank; nothing if a rank occurs twice.
std::optional<Vocabulary> by_rank(const Vocabulary& lines, const std::vector<Id>& ranks) {
    std::vector<std::size_t> line_of(*std::ranges::max_element(ranks) + std::size_t{1}, kNowhere);
    for (std::size_t line = 0; line < ranks.size(); ++line) {
        if (line_of[ranks[line]] != kNowhere) return std::nullopt;
        line_of[ranks[line]] = line;
    }
    Vocabulary result{{}, {0}};
    result.bytes.reserve(lines.bytes.size());
    result.offsets.reserve(line_of.size() + 1);
    for (const std::size_t line : line_of) {
        if (line != kNowhere) {
            const auto* bytes = lines.bytes.data();
            result.bytes.insert(result.bytes.end(), bytes + lines.offsets[line],
                                bytes + lines.offsets[line + 1]);
        }
        result.offsets.push_back(result.bytes.size());
    }
    return result;
}

// The ids, sorted by the length of their tokens.
std::vector<Id> by_length(const Vocabulary& vocabulary) {
    std::size_t longest = 0;
    for (Id id = 0; id < vocabulary.size(); ++id)
        longest = std::max(longest, vocabulary.length(id));
    std::vector<std::size_t> starts(longest + 2);  // of each length; the end of the last
    for (Id id = 0; id < vocabulary.size(); ++id) ++starts[vocabulary.length(id) + 1];
    for (std::size_t length = 0; length <= longest; ++length) starts[length + 1] += starts[length];
    std::vector<Id> ids(vocabulary.size());
    for (Id id = 0; id < vocabulary.size(); ++id) ids[starts[vocabulary.length(id)]++] = id;
    return ids;
}

}  // namespace

std::optional<Vocabulary> read_ranks(std::string_view text, Id most) {
    Vocabulary found{{}, {0}};
    std::vector<Id> ranks;
    bool in_order = true;
    while (!text.empty()) {
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        const bool is_blank = line.empty() || text.starts_with("\r\n");
        text.remove_prefix(std::min(end + 1, text.size()));
        if (is_blank) continue;
        if (line.ends_with('\r')) line.remove_suffix(1);
        const std::size_t space = line.find(' ');
        if (space == line.npos || !decode_base64(line.substr(0, space), found.bytes))
            return std::nullopt;
        const std::optional<Id> rank = decode_rank(line.substr(space + 1));
        if (!rank || *rank > most) return std::nullopt;
        found.offsets.push_back(found.bytes.size());
        in_order = in_order && *rank == ranks.size();
        ranks.push_back(*rank);
    }
    if (TokenIndex(found).size() != ranks.size()) return std::nullopt;
    if (in_order) return found;
    return by_rank(found, ranks);
}

std::vector<MergeRule> recover_merges(const Vocabulary& vocabulary) {
    const std::array<Id, 256> byte_ids = single_bytes(vocabulary);
    PairTable pairs(vocabulary.size());
    std::vector<Merge> byte_pairs(256 * 256, Merge{kNoRank, 0});
    std::vector<MergeRule> found(vocabulary.size(), MergeRule{0, 0, kNoRank});
    const ByteMerges merging{byte_ids, pairs, byte_pairs.data(), vocabulary};
    IdArray parts;
    // In the order of token lengths, so that the table already contains the merges of all tokens
    // that can occur inside this one, whatever their ranks. Ranks are ids.
    for (const Id id : by_length(vocabulary)) {
        const std::string_view token = vocabulary[id];
        if (token.size() < 2) continue;
        const auto* bytes = reinterpret_cast<const std::uint8_t*>(token.data());
        parts.clear();
        merge_bytes(merging, bytes, token.size(), parts);
        if (parts.size() != 2) continue;
        const Id left = parts.data()[0], right = parts.data()[1];
        pairs.insert(left, right, {id, id});
        if (token.size() == 2) byte_pairs[bytes[0] * 256 + bytes[1]] = {id, id};
        found[id] = {left, right, id};
    }
    std::erase_if(found, [](const MergeRule& merge) { return merge.id == kNoRank; });
    return found;
}

}  // namespace toksmith::bpe

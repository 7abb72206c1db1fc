// Recovers merges from tokens cut out of the input, with random ranks. Compares with encoding by
// ranks alone: repeatedly joins the adjacent pair whose bytes have the lowest rank.
#include "fuzz.hpp"
#include "models/bpe/ranks.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

std::vector<Id> joined_by_rank(const std::map<std::string, Id>& ranks, Text chunk) {
    std::vector<std::string> parts;
    for (const std::uint8_t* p = chunk.begin; p < chunk.end; ++p) parts.emplace_back(p, p + 1);
    for (;;) {
        Id best = 0xFFFFFFFFu;
        std::size_t place = 0;
        for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
            const auto found = ranks.find(parts[i] + parts[i + 1]);
            if (found != ranks.end() && found->second < best) best = found->second, place = i;
        }
        if (best == 0xFFFFFFFFu) break;
        parts[place] += parts[place + 1];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
    }
    std::vector<Id> ids;
    for (const std::string& part : parts) ids.push_back(ranks.at(part));
    return ids;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    if (input.text.size() > 2000) return 0;
    // Sometimes a few letters only, so that tokens overlap in many ways.
    if (random.below(2)) {
        for (std::uint8_t& byte : input.text) byte = static_cast<std::uint8_t>('a' + byte % 3);
    }
    const Text text = text_of(input.text);
    std::map<std::string, Id> ranks;
    Merges merges;
    for (std::size_t i = random.below(40); i-- > 0 && text.size() > 1;) {
        const std::size_t start = random.below(text.size() - 1);
        const std::size_t longest = random.below(8) == 0 ? 150 : 6;
        const std::size_t length = std::min(2 + random.below(longest), text.size() - start);
        const std::string token(text.begin + start, text.begin + start + length);
        if (std::ranges::find(merges.tokens, token) == merges.tokens.end()) {
            merges.tokens.push_back(token);
        }
    }
    if (random.below(2)) {  // the bytes need not have the lowest ranks
        for (std::size_t i = merges.tokens.size(); i > 1; --i) {
            std::swap(merges.tokens[i - 1], merges.tokens[random.below(i)]);
        }
    }
    for (const std::string& token : merges.tokens) ranks.emplace(token, ranks.size());

    merges.rules = bpe::recover_merges(vocabulary(merges.tokens));
    for (std::size_t i = 0; i < merges.rules.size(); ++i) {
        const bpe::MergeRule& rule = merges.rules[i];
        CHECK(i == 0 || merges.rules[i - 1].id < rule.id);
        CHECK(merges.tokens[rule.left] + merges.tokens[rule.right] == merges.tokens[rule.id]);
    }
    const auto model = merges.model();
    for (int i = 0; i < 8 && text.size() > 0; ++i) {
        const std::size_t start = random.below(text.size());
        const std::size_t length =
            1 + random.below(std::min<std::size_t>(text.size() - start, 200));
        const Text chunk{text.begin + start, text.begin + start + length};
        IdArray ids;
        model->encode_chunk(chunk.begin, chunk.size(), *model->scratch(), ids, nullptr);
        CHECK(list(ids) == joined_by_rank(ranks, chunk));
    }
    return 0;
}

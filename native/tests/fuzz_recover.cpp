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
    constexpr Id kNever = 0xFFFFFFFFu;
    std::vector<Id> pairs(parts.size(), kNever);  // the rank of each part and the next one
    const auto look_up = [&](std::size_t i) {
        const bool is_last = i + 1 == parts.size();
        const auto found = is_last ? ranks.end() : ranks.find(parts[i] + parts[i + 1]);
        pairs[i] = found == ranks.end() ? kNever : found->second;
    };
    for (std::size_t i = 0; i < parts.size(); ++i) look_up(i);
    for (;;) {
        const auto best = std::ranges::min_element(pairs);
        if (*best == kNever) break;
        const auto place = static_cast<std::size_t>(best - pairs.begin());
        parts[place] += parts[place + 1];
        parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(place) + 1);
        pairs.erase(best + 1);
        look_up(place);
        if (place > 0) look_up(place - 1);
    }
    std::vector<Id> ids;
    for (const std::string& part : parts) ids.push_back(ranks.at(part));
    return ids;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
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
    for (int i = 0; i < 3 && text.size() > 0; ++i) {
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

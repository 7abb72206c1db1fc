// Merges the characters of a text with tokens and rules made from it, with random options, and
// compares with merging the lowest rule again and again.
#include <optional>

#include "fuzz.hpp"
#include "models/bpe/character_model.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

using Options = bpe::CharacterModel::Options;
constexpr Id kNone = bpe::CharacterModel::kNone;

struct Symbol {
    Id id;
    std::uint32_t start, end;
};

struct SlowModel {
    std::vector<std::string> tokens;
    std::vector<bpe::MergeRule> rules;
    Options options;
    std::map<std::string, Id> ids;
    std::map<std::pair<Id, Id>, std::size_t> ranks;

    Id add(const std::string& token) {
        const auto id = static_cast<Id>(tokens.size());
        tokens.push_back(token);
        ids.try_emplace(token, id);
        return id;
    }
    Id find(const std::string& token) const {
        const auto found = ids.find(token);
        return found == ids.end() ? kNone : found->second;
    }

    // The symbols of the characters, before merges.
    std::vector<Symbol> spelled(Text chunk) const {
        std::vector<Symbol> symbols;
        // An unknown character waits for a known one, and follows byte tokens in between.
        std::optional<Symbol> unknown;
        for (const std::uint8_t* p = chunk.begin; p < chunk.end;) {
            const utf8::Char c = utf8::decode(p, chunk.end);
            const auto start = static_cast<std::uint32_t>(p - chunk.begin), end = start + c.size;
            const std::string prefix = p == chunk.begin ? "" : options.prefix;
            const std::string suffix = end == chunk.size() ? options.suffix : "";
            const std::string text(p, p + c.size);
            p += c.size;
            const Id id = c.code == utf8::kInvalid ? kNone : find(prefix + text + suffix);
            if (id != kNone) {
                if (unknown) symbols.push_back(*unknown);
                unknown.reset();
                symbols.push_back({id, start, end});
            } else if (!options.byte_fallback || !add_bytes(symbols, prefix, text, suffix, start)) {
                if (options.unk == kNone) continue;
                if (unknown && options.fuse_unk) {
                    unknown->end = end;
                    continue;
                }
                if (unknown) symbols.push_back(*unknown);
                unknown = {options.unk, start, end};
            }
        }
        if (unknown) symbols.push_back(*unknown);
        return symbols;
    }

    bool add_bytes(std::vector<Symbol>& symbols, const std::string& prefix, const std::string& text,
                   const std::string& suffix, std::uint32_t start) const {
        std::vector<Symbol> found;
        const std::string all = prefix + text + suffix;
        for (std::size_t i = 0; i < all.size(); ++i) {
            char name[8];
            std::snprintf(name, sizeof name, "<0x%02X>", static_cast<std::uint8_t>(all[i]));
            const Id id = find(name);
            if (id == kNone) return false;
            const std::size_t before = std::min(i - std::min(i, prefix.size()), text.size());
            const std::size_t after = std::min(i + 1 - std::min(i + 1, prefix.size()), text.size());
            found.push_back({id, start + static_cast<std::uint32_t>(before),
                             start + static_cast<std::uint32_t>(after)});
        }
        symbols.insert(symbols.end(), found.begin(), found.end());
        return true;
    }

    void merge(std::vector<Symbol>& symbols) const {
        constexpr std::size_t kNever = ~std::size_t{0};
        if (symbols.empty()) return;
        std::vector<std::size_t> pairs(symbols.size());  // the rank of each symbol and the next
        const auto look_up = [&](std::size_t i) {
            pairs[i] = kNever;
            if (i + 1 == symbols.size()) return;
            const auto found = ranks.find({symbols[i].id, symbols[i + 1].id});
            if (found != ranks.end()) pairs[i] = found->second;
        };
        for (std::size_t i = 0; i < symbols.size(); ++i) look_up(i);
        for (;;) {
            const auto best = std::ranges::min_element(pairs);
            if (*best == kNever) return;
            const auto place = static_cast<std::size_t>(best - pairs.begin());
            symbols[place] = {rules[*best].id, symbols[place].start, symbols[place + 1].end};
            symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(place) + 1);
            pairs.erase(best + 1);
            look_up(place);
            if (place > 0) look_up(place - 1);
        }
    }
};

// Tokens of characters of the text, and rules for pairs that occur in it.
SlowModel random_model(Random& random, Text text) {
    static const char* const kAffixes[] = {"", "", "##", "a", "</w>"};
    SlowModel model;
    model.add("<?>");
    model.options = {.unk = random.below(3) ? 0 : kNone,
                     .fuse_unk = random.below(2) == 0,
                     .byte_fallback = random.below(2) == 0,
                     .prefix = kAffixes[random.below(std::size(kAffixes))],
                     .suffix = kAffixes[random.below(std::size(kAffixes))],
                     .whole_chunk_first = random.below(4) == 0};
    const std::size_t step = 1 + random.below(3);
    for (std::size_t byte = 0; model.options.byte_fallback && byte < 256; byte += step) {
        char name[8];
        std::snprintf(name, sizeof name, "<0x%02X>", static_cast<unsigned>(byte));
        model.add(name);
    }
    const std::size_t known = 1 + random.below(8);  // of eight characters, the share with tokens
    for (const std::uint8_t* p = text.begin; p < text.end;) {
        const utf8::Char c = utf8::decode(p, text.end);
        const std::string character(p, p + c.size);
        p += c.size;
        for (const bool first : {false, true}) {
            for (const bool last : {false, true}) {
                const std::string token = (first ? "" : model.options.prefix) + character +
                                          (last ? model.options.suffix : "");
                if (c.code % 8 < known && model.find(token) == kNone) model.add(token);
            }
        }
    }
    std::vector<Symbol> symbols = model.spelled(text);
    for (std::size_t i = random.below(64); i > 0 && symbols.size() > 1; --i) {
        const std::size_t place = random.below(symbols.size() - 1);
        const Id left = symbols[place].id, right = symbols[place + 1].id;
        const Id made = random.below(8) ? model.add(model.tokens[left] + model.tokens[right])
                                        : static_cast<Id>(random.below(model.tokens.size()));
        model.ranks[{left, right}] = model.rules.size();
        model.rules.push_back({left, right, made});
        for (std::size_t k = 0; k + 1 < symbols.size(); ++k) {
            if (symbols[k].id != left || symbols[k + 1].id != right) continue;
            symbols[k].id = made;
            symbols.erase(symbols.begin() + static_cast<std::ptrdiff_t>(k) + 1);
        }
    }
    return model;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 200);
    Random& random = input.random;
    if (input.text.empty()) return 0;
    if (random.below(2)) {
        for (std::uint8_t& byte : input.text) byte = static_cast<std::uint8_t>('a' + byte % 3);
    }
    const Text text = text_of(input.text);
    const SlowModel slow = random_model(random, text);
    const bpe::CharacterModel model(vocabulary(slow.tokens), slow.rules, slow.options);
    const auto scratch = model.scratch();
    for (int i = 0; i < 2; ++i) {
        const std::size_t start = i == 0 ? 0 : random.below(text.size());
        const std::size_t length = i == 0 ? text.size() : 1 + random.below(text.size() - start);
        const Text chunk{text.begin + start, text.begin + start + length};
        std::vector<Symbol> expected = slow.spelled(chunk);
        const Id whole = slow.find(std::string(chunk.begin, chunk.end));
        if (slow.options.whole_chunk_first && whole != kNone) {
            expected = {{whole, 0, static_cast<std::uint32_t>(length)}};
        } else {
            slow.merge(expected);
        }
        IdArray ids, spans, again;
        model.encode_chunk(chunk.begin, length, *scratch, ids, &spans);
        model.encode_chunk(chunk.begin, length, *scratch, again, nullptr);
        CHECK(list(again) == list(ids), "without spans");
        CHECK(ids.size() == expected.size() && spans.size() == 2 * ids.size());
        for (std::size_t k = 0; k < expected.size(); ++k) {
            CHECK(ids.data()[k] == expected[k].id);
            CHECK(spans.data()[2 * k] == expected[k].start);
            CHECK(spans.data()[2 * k + 1] == expected[k].end);
        }
    }
    return 0;
}

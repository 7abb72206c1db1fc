// Encodes documents with spans, with added tokens that are cut out of them, and compares with the
// ids without spans and with places that are counted byte by byte.
#include <optional>

#include "fuzz.hpp"
#include "utf8/decode.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// The number of the character that each byte belongs to, and the number of all characters.
std::vector<std::int64_t> characters_of(Text text) {
    std::vector<std::int64_t> found;
    std::int64_t count = 0;
    for (const std::uint8_t* p = text.begin; p < text.end; ++count) {
        const utf8::Char c = utf8::decode(p, text.end);
        found.insert(found.end(), c.size, count);
        p += c.size;
    }
    found.push_back(count);
    return found;
}

struct Tokenizer {
    Merges merges;
    std::shared_ptr<const bpe::BpeModel> model;
};

// Making a model takes longer than encoding a short text.
const Tokenizer& shared_model(std::size_t index) {
    static const std::vector<Tokenizer> all = [] {
        std::vector<Tokenizer> made;
        for (std::uint64_t seed = 0; seed < 16; ++seed) {
            Random random{seed};
            const Bytes text = random_text(random, 60);
            const Merges merges = random_merges(random, text_of(text), random.below(64));
            made.push_back({merges, merges.model(random.below(2) == 0)});
        }
        return made;
    }();
    return all[index];
}

// Tokens of whole characters of the text.
std::vector<AddedTokens::Token> random_tokens(Random& random, Text text, Id first) {
    std::vector<AddedTokens::Token> tokens;
    for (std::size_t i = random.below(6); i > 0 && text.size() > 0; --i) {
        const std::uint8_t* p = text.begin + random.below(text.size());
        std::string literal;
        for (std::size_t left = 1 + random.below(3); left > 0 && p < text.end; --left) {
            const utf8::Char c = utf8::decode(p, text.end);
            if (c.code == utf8::kInvalid) break;
            literal.append(p, p + c.size);
            p += c.size;
        }
        if (literal.empty() || literal[0] == ' ') continue;
        if (std::ranges::find(tokens, literal, &AddedTokens::Token::literal) != tokens.end())
            continue;
        tokens.push_back({literal, first + static_cast<Id>(i), false, random.below(2) == 0, false});
    }
    return tokens;
}

void check_document(Text text, std::span<const Id> ids, const std::int64_t* bytes,
                    const std::int64_t* characters, const Merges& merges) {
    const std::vector<std::int64_t> character_of = characters_of(text);
    std::int64_t end = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        CHECK(bytes[2 * i] == end && bytes[2 * i + 1] > end);
        end = bytes[2 * i + 1];
        CHECK(end <= static_cast<std::int64_t>(text.size()));
        if (ids[i] < merges.tokens.size()) {
            const std::string token(text.begin + bytes[2 * i], text.begin + end);
            CHECK(token == merges.tokens[ids[i]]);
        }
        CHECK(characters[2 * i] == character_of[static_cast<std::size_t>(bytes[2 * i])]);
        CHECK(characters[2 * i + 1] == character_of[static_cast<std::size_t>(end) - 1] + 1);
    }
    CHECK(end == static_cast<std::int64_t>(text.size()));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 400);
    Random& random = input.random;
    const Text text = text_of(input.text);
    const Tokenizer& shared = shared_model(random.below(16));
    const std::size_t level = random.below(levels().size());
    Encoder encoder(shared.model, static_cast<Family>(random.below(kPatterns)), levels()[level]);

    const bool are_strings = random.below(2) == 0;
    const std::size_t threads = some_threads(random);
    std::vector<Bytes> copies;  // of exact size
    for (const std::uint8_t* p = text.begin; copies.empty() || p < text.end;) {
        const std::uint8_t* end = p + random.below(static_cast<std::size_t>(text.end - p) + 1);
        copies.emplace_back(p, end);
        p = end;
    }
    std::vector<Characters> strings;
    std::vector<InputText> documents;
    std::vector<Text> texts;  // in UTF-8
    for (const Bytes& copy : copies) strings.emplace_back(text_of(copy), kWidths[random.below(3)]);
    for (std::size_t i = 0; i < copies.size(); ++i) {
        documents.push_back(are_strings ? strings[i].source() : text_of(copies[i]));
        texts.push_back(are_strings ? strings[i].utf8() : text_of(copies[i]));
    }
    const auto tokens = random_tokens(random, text, static_cast<Id>(shared.merges.tokens.size()));
    std::optional<AddedTokens> added;
    if (!tokens.empty())
        added.emplace(tokens, random.below(2) == 0, [](std::uint32_t) { return true; });
    const AddedTokens* const find = added ? &*added : nullptr;

    const Encoded expected = encoder.encode(documents, 1, Encoder::kAll, find);
    std::optional<Located> found = encoder.encode_with_spans(documents, {}, threads, find);
    CHECK(found.has_value());
    CHECK(list(found->ids) == list(expected.ids) && found->offsets == expected.offsets);
    CHECK(found->bytes.size() == found->ids.size());
    SpanArray& characters = found->is_ascii ? found->bytes : found->characters;
    CHECK(characters.size() == found->ids.size());
    for (std::size_t i = 0; i < documents.size(); ++i) {
        const std::int64_t start = found->offsets[i];
        const auto count = static_cast<std::size_t>(found->offsets[i + 1] - start);
        check_document(texts[i], {found->ids.data() + start, count},
                       found->bytes.data() + 2 * start, characters.data() + 2 * start,
                       shared.merges);
    }
    return 0;
}

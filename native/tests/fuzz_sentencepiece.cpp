// Encodes a text with pieces cut out of it, after SentencePiece's normalizer, and compares with
// normalizing the whole text first and encoding it as one chunk.
#include "fused/sentencepiece_stages.hpp"
#include "fuzz.hpp"
#include "subword_kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

constexpr std::string_view kMark = "\xE2\x96\x81";

// The normalizer of a model without a map of characters.
std::string normalize_slowly(Text text, const sentencepiece::NormalizerOptions& options) {
    std::string spaced;
    for (const std::uint8_t* p = text.begin; p < text.end;) {
        const utf8::Char c = utf8::decode(p, text.end);
        const bool is_extra = *p == ' ' && (spaced.empty() || spaced.back() == ' ');
        if (c.code == utf8::kInvalid) {
            spaced += "\xEF\xBF\xBD";
        } else if (!is_extra || !options.remove_extra_whitespaces) {
            spaced.append(p, p + c.size);
        }
        p += c.size;
    }
    if (!spaced.empty() && options.add_dummy_prefix) spaced.insert(0, " ");
    std::string out;
    for (const char byte : spaced) {
        if (byte == ' ' && options.escape_whitespaces) {
            out += kMark;
        } else {
            out += byte;
        }
    }
    while (options.remove_extra_whitespaces && out.ends_with(kMark))
        out.resize(out.size() - kMark.size());
    return out;
}

std::vector<Id> ids_of(const Placed& tokens) {
    std::vector<Id> ids;
    for (std::size_t i = 0; i < tokens.size(); i += 3) ids.push_back(tokens[i]);
    return ids;
}

void check_same(const std::shared_ptr<const Model>& model, const PieceSet& pieces,
                const std::shared_ptr<const sentencepiece::Normalizer>& normalizer, Text text,
                const std::vector<Id>& expected, Random& random) {
    const auto fused = sentencepiece::fuse(model, vocabulary(pieces.texts), pieces.types,
                                           !pieces.byte_fallback, normalizer, {});
    if (!fused) return;
    for (const isa::Level level : some_levels(random)) {
        Encoder encoder(fused, Family::kModel, level);
        for (const char* const times : {"cold", "warm"}) {
            const auto found = encoder.encode({text}, some_threads(random));
            CHECK(list(found.ids) == expected, times);
        }
        CHECK(encoder.count({text}, 1) == expected.size());
        const Characters string(text, utf8::kFourBytes);
        if (string.utf8().size() == text.size())  // the string is valid UTF-8
            CHECK(list(encoder.encode({string.source()}, 1).ids) == expected, "a string");
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 300);
    Random& random = input.random;
    if (input.text.empty()) return 0;
    if (random.below(2)) {
        static constexpr std::string_view kLetters = "ab  c";
        for (std::uint8_t& byte : input.text)
            byte = static_cast<std::uint8_t>(kLetters[byte % kLetters.size()]);
    }
    const Text text = text_of(input.text);
    sentencepiece::NormalizerOptions options{random.below(4) > 0, random.below(2) == 0,
                                             random.below(4) > 0};
    const std::string normalized = normalize_slowly(text, options);
    if (normalized.empty()) return 0;
    const Bytes bytes = bytes_of(normalized);
    const PieceSet pieces = random_pieces(random, text_of(bytes), random.below(48));
    std::vector<std::string> symbols;
    for (Id id = 0; id < pieces.texts.size(); ++id) {
        if (pieces.type(id) == PieceType::kUserDefined) symbols.push_back(pieces.texts[id]);
    }
    const auto normalizer = std::make_shared<const sentencepiece::Normalizer>(
        std::make_shared<const CharacterMap>(*CharacterMap::read("")), symbols, options);
    if (random.below(2)) {
        check_same(std::make_shared<bpe::SentencePieceModel>(pieces.bpe_model()), pieces,
                   normalizer, text, ids_of(bpe_slowly(pieces, text_of(bytes))), random);
    } else {
        check_same(std::make_shared<unigram::UnigramModel<float>>(pieces.unigram_model()), pieces,
                   normalizer, text, ids_of(unigram_slowly(pieces, text_of(bytes))), random);
    }
    return 0;
}

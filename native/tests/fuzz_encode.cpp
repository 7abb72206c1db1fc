// Encodes a text with merges made from it: on every instruction set, with both merging algorithms,
// as documents on several threads, and cut in two. Decodes the ids again.
#include "encode/decoder.hpp"
#include "fuzz.hpp"
#include "split/splitter.hpp"

using namespace toksmith;
using namespace toksmith::test;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    const Text text = text_of(input.text);
    const auto family = static_cast<Family>(random.below(kPatterns));
    Merges merges = random_merges(random, text, random.below(64));
    if (random.below(4) == 0) shuffle(random, merges.rules);
    const bool whole_chunk_first = random.below(2);
    const auto model = merges.model(whole_chunk_first);
    const Merger merged(merges);

    // Documents end at random places, also inside a character.
    std::vector<InputText> documents;
    for (const std::uint8_t* p = text.begin; documents.empty() || p < text.end;) {
        const auto left = static_cast<std::size_t>(text.end - p);
        const std::uint8_t* end = p + random.below(left + 1);
        documents.push_back(Text{p, end});
        p = end;
    }
    const std::uint8_t* from = text.begin + random.below(text.size() + 1);
    const std::uint8_t* cut = safe_cut(family, from, text.end);

    std::vector<Id> expected;
    std::vector<std::uint64_t> ends;
    for (const isa::Level level : levels()) {
        Encoder encoder(model, family, level);
        const std::vector<std::uint64_t> found = chunk_ends(family, level, text);
        if (level == isa::Level::kScalar) {
            ends = found;
            std::uint64_t start = 0;
            for (const std::uint64_t end : ends) {
                CHECK(start < end && end <= text.size());
                const Text chunk{text.begin + start, text.begin + end};
                const std::string token(chunk.begin, chunk.end);
                const auto known = std::ranges::find(merges.tokens, token);
                if (whole_chunk_first && known != merges.tokens.end()) {
                    expected.push_back(static_cast<Id>(known - merges.tokens.begin()));
                } else {
                    const std::vector<Id> ids = merged(chunk);
                    expected.insert(expected.end(), ids.begin(), ids.end());
                }
                start = end;
            }
            CHECK(start == text.size());
        }
        CHECK(found == ends);
        CHECK(list(encoder.encode({text}, 1).ids) == expected);
        CHECK(list(encoder.encode({text}, 2).ids) == expected, "warm");
        CHECK(encoder.count({text}, 1) == expected.size());

        std::vector<Id> halves = list(encoder.encode({Text{text.begin, cut}}, 1).ids);
        const std::vector<Id> second = list(encoder.encode({Text{cut, text.end}}, 1).ids);
        halves.insert(halves.end(), second.begin(), second.end());
        CHECK(halves == expected, "cut");

        const Characters string(text, kWidths[random.below(3)]);
        CHECK(list(encoder.encode({string.source()}, 1).ids) ==
                  list(encoder.encode({string.utf8()}, 1).ids),
              "a string");

        const Encoded all = encoder.encode(documents, 1 + random.below(4));
        CHECK(all.offsets.size() == documents.size() + 1);
        const std::vector<Id> ids = list(all.ids);
        for (std::size_t i = 0; i < documents.size(); ++i) {
            const std::vector<Id> part(ids.begin() + all.offsets[i],
                                       ids.begin() + all.offsets[i + 1]);
            CHECK(part == list(encoder.encode({documents[i]}, 1).ids), "documents");
        }
    }

    Vocabulary vocab = vocabulary(merges.tokens);
    const Decoder decoder(std::move(vocab.bytes), std::move(vocab.offsets));
    CHECK(decoder.first_unknown(expected.data(), expected.size()) == Decoder::kAllKnown);
    CHECK(decoded(decoder, expected, 1) == input.text);
    return 0;
}

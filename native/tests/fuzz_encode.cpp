// Encodes a text with merges made from it or from another text: on two instruction sets, with both
// merging algorithms, as documents on several threads, and cut in two. Decodes the ids again.
#include <deque>
#include <optional>

#include "encode/decoder.hpp"
#include "fuzz.hpp"
#include "split/splitter.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Tokenizer {
    Merges merges;
    bool whole_chunk_first;
    std::shared_ptr<const bpe::BpeModel> model;
    Merger merged;
    Decoder decoder;
    std::map<std::string, Id> ids;

    Tokenizer(Merges of, bool whole_first)
        : merges(std::move(of)),
          whole_chunk_first(whole_first),
          model(merges.model(whole_first)),
          merged(merges),
          decoder(vocabulary(merges.tokens).bytes, vocabulary(merges.tokens).offsets) {
        for (const std::string& token : merges.tokens)
            ids.emplace(token, static_cast<Id>(ids.size()));
    }
    static Tokenizer make(Random& random, Text text) {
        Merges merges = random_merges(random, text, random.below(64));
        if (random.below(4) == 0) shuffle(random, merges.rules);
        return {std::move(merges), random.below(2) == 0};
    }
};

// Making a model takes longer than encoding a short text, so that most inputs use one of these.
const Tokenizer& shared_tokenizer(std::size_t index) {
    static std::deque<Tokenizer> all;
    while (all.size() <= index) {
        Random random{all.size()};
        const Bytes text = random_text(random, 60);
        all.push_back(Tokenizer::make(random, text_of(text)));
    }
    return all[index];
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    const Text text = text_of(input.text);
    const auto family = static_cast<Family>(random.below(kPatterns));
    std::optional<Tokenizer> own;
    if (random.below(16) == 0) own.emplace(Tokenizer::make(random, text));
    const Tokenizer& tokenizer = own ? *own : shared_tokenizer(random.below(64));

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
    for (const isa::Level level : some_levels(random)) {
        Encoder encoder(tokenizer.model, family, level);
        const std::vector<std::uint64_t> found = chunk_ends(family, level, text);
        if (level == isa::Level::kScalar) {
            ends = found;
            std::uint64_t start = 0;
            for (const std::uint64_t end : ends) {
                CHECK(start < end && end <= text.size());
                const Text chunk{text.begin + start, text.begin + end};
                const std::string token(chunk.begin, chunk.end);
                const auto known = tokenizer.ids.find(token);
                if (tokenizer.whole_chunk_first && known != tokenizer.ids.end()) {
                    expected.push_back(known->second);
                } else {
                    const std::vector<Id> ids = tokenizer.merged(chunk);
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

        const Encoded all = encoder.encode(documents, some_threads(random));
        CHECK(all.offsets.size() == documents.size() + 1);
        const std::vector<Id> ids = list(all.ids);
        for (std::size_t i = 0; i < documents.size(); ++i) {
            const std::vector<Id> part(ids.begin() + all.offsets[i],
                                       ids.begin() + all.offsets[i + 1]);
            CHECK(part == list(encoder.encode({documents[i]}, 1).ids), "documents");
        }
    }

    const Decoder& decoder = tokenizer.decoder;
    CHECK(decoder.first_unknown(expected.data(), expected.size()) == Decoder::kAllKnown);
    CHECK(decoded(decoder, expected, 1) == input.text);
    return 0;
}

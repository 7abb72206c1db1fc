// Memory that ends while texts are encoded, counted, located and decoded, or while models are made.
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "encode/added_tokens.hpp"
#include "encode/decoder.hpp"
#include "failing_memory.hpp"
#include "fused/model.hpp"
#include "fused/span_model.hpp"
#include "kit.hpp"
#include "models/wordpiece.hpp"
#include "rows/fill.hpp"
#include "rows/rows.hpp"
#include "subword_kit.hpp"
#include "text/character_map.hpp"
#include "text/json_lines.hpp"

namespace toksmith::test {
namespace {

constexpr std::size_t kThreads[] = {1, 2};

// Words of few letters: most are new, some come again. Some are too long for a slot, and some too
// long for vector lanes.
std::string words(std::size_t size) {
    Random random{31};
    std::string text;
    while (text.size() < size) {
        text += ' ';
        const std::size_t most = random.below(30) ? 9 : random.below(8) ? 80 : 400;
        for (std::size_t left = 1 + random.below(most); left > 0; --left)
            text += static_cast<char>('a' + random.below(3));
        if (random.below(20) == 0) text += "\xE4\xB8\xAD\xC3\xA9";
        if (random.below(200) == 0) text += "<tok>";
    }
    return text;
}

// ' ' is a space; the other characters are letters. Those beyond ASCII become 'e'.
std::unique_ptr<const CharacterTable::Block> fill(std::uint32_t number) {
    auto block = std::make_unique<CharacterTable::Block>();
    for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
        const std::uint32_t code = number * CharacterTable::kBlock + i;
        const std::uint16_t kind = code == ' ' ? 1 : 2;
        block->rows[i] = {.left = kind,
                          .right = kind,
                          .size = 3,
                          .is_context_sensitive = false,
                          .joins = false,
                          .takes = false,
                          .begin = static_cast<std::uint32_t>(block->units.size())};
        block->units.push_back(static_cast<std::uint8_t>(code == ' ' ? Unit::kSpace : Unit::kRun));
        block->units.push_back(1);
        block->units.push_back(static_cast<std::uint8_t>(code < 0x80 ? code : 'e'));
    }
    return block;
}

std::shared_ptr<FusedModel> fused(std::shared_ptr<const Model> model) {
    Stages stages;
    stages.prefix_space = PrefixSpace::kAlways;
    const auto table = std::make_shared<const CharacterTable>(fill);
    const std::vector<std::pair<CutTable::CutClass, CutTable::CutClass>> inseparable = {
        {1, 1}, {1, 2}, {2, 2}};
    return std::make_shared<FusedModel>(
        std::move(model), table, std::make_shared<const CutTable>(table, inseparable), stages);
}

PieceSet pieces_of(const std::string& text) {
    Random random{5};
    PieceSet pieces = random_pieces(random, text_of(bytes_of(text.substr(0, 500))), 60);
    for (const char* letter : {" ", "a", "b", "c", "e"}) {
        if (!pieces.find(letter)) pieces.add(letter, -2);
    }
    return pieces;
}

struct Kind {
    const char* name;
    Family family;
    std::shared_ptr<const Model> model;     // encodes and counts
    std::shared_ptr<const Model> locating;  // makes spans
};

std::shared_ptr<const Model> bpe_of(const std::string& text) {
    Random random{9};
    return random_merges(random, text_of(bytes_of(text)), 60).model();
}

std::shared_ptr<const Model> wordpiece_of() {
    return std::make_shared<wordpiece::LongestMatchModel>(
        vocabulary({"[UNK]", " ", "a", "b", "c", "e", "ab", "##a", "##b", "##c", "##e", "##ab"}),
        wordpiece::Options{.prefix = "##", .unk = 0, .whole_unknown = true});
}

std::vector<Kind> kinds(const std::string& text) {
    std::vector<Kind> all;
    const auto add_fused = [&](const char* name, std::shared_ptr<const Model> model) {
        const auto made = fused(std::move(model));
        all.push_back({name, Family::kModel, made, std::make_shared<SpanModel>(made)});
    };
    const auto bpe = bpe_of(text);
    all.push_back({"bpe", Family::kGpt2, bpe, bpe});
    all.push_back({"whole", Family::kNone, bpe, bpe});
    const PieceSet pieces = pieces_of(text);
    add_fused("sentencepiece", std::make_shared<bpe::SentencePieceModel>(pieces.bpe_model()));
    add_fused("unigram", std::make_shared<unigram::UnigramModel<float>>(pieces.unigram_model()));
    add_fused("wordpiece", wordpiece_of());
    return all;
}

// Documents that make several tasks.
std::vector<InputText> parts_of(const Bytes& bytes) {
    std::vector<InputText> parts;
    for (std::size_t i = 0; i + 400 <= bytes.size(); i += 400)
        parts.push_back(Text{bytes.data() + i, bytes.data() + i + 400});
    return parts;
}

struct Result {
    std::vector<Id> ids;
    std::vector<std::int64_t> offsets;
    bool operator==(const Result&) const = default;
};

Result result(const Encoded& encoded) { return {list(encoded.ids), encoded.offsets}; }

struct Spans {
    std::vector<Id> ids;
    std::vector<std::int64_t> bytes, offsets;
    bool operator==(const Spans&) const = default;
};

Spans spans(std::optional<Located> found) {
    CHECK(found.has_value());
    const std::int64_t* const places = found->bytes.data();
    return {list(found->ids), {places, places + 2 * found->bytes.size()}, found->offsets};
}

// Calls work() with each of its allocations failing in turn. Its result is right as soon as none
// fails, and check() holds after each failure.
template <typename Work, typename Check>
void fail_each(const char* name, const Work& work, const Check& check) {
    const auto expected = work();
    auto last = expected;
    const std::size_t allocations =
        fail_each_allocation([&] { last = {}; }, [&] { last = work(); }, check);
    CHECK(allocations > 0 && last == expected, name);
}

}  // namespace

TEST(memory_ends_while_each_model_encodes) {
    const std::string text = words(2'400);
    const AddedTokens added({{"<tok>", 7, false, false, false}}, false,
                            [](std::uint32_t) { return false; });
    const Bytes bytes = bytes_of(text);
    const std::vector<InputText> texts = parts_of(bytes);
    for (const Kind& kind : kinds(text)) {
        Encoder fresh(kind.model, kind.family, isa::best());
        const Result expected = result(fresh.encode(texts, 1, Encoder::kAll, &added));
        for (const std::size_t threads : kThreads) {
            Encoder encoder(kind.model, kind.family, isa::best());
            const auto is_usable = [&] {
                CHECK(result(encoder.encode(texts, threads, Encoder::kAll, &added)) == expected,
                      kind.name);
            };
            fail_each(
                kind.name,
                [&] {
                    encoder.forget();
                    return result(encoder.encode(texts, threads, Encoder::kAll, &added));
                },
                is_usable);
            fail_each(
                kind.name,
                [&] {
                    encoder.forget();
                    return encoder.count(texts, threads);
                },
                kNothing);
            is_usable();
        }
    }
}

TEST(memory_ends_while_each_model_locates_tokens) {
    const Bytes bytes = bytes_of(words(2'400));
    const std::vector<InputText> texts = parts_of(bytes);
    for (const Kind& kind : kinds({bytes.begin(), bytes.end()})) {
        Encoder fresh(kind.locating, kind.family, isa::best());
        const Spans expected = spans(fresh.encode_with_spans(texts, {}, 1));
        for (const std::size_t threads : kThreads) {
            Encoder encoder(kind.locating, kind.family, isa::best());
            fail_each(
                kind.name,
                [&] {
                    encoder.forget();
                    return spans(encoder.encode_with_spans(texts, {}, threads));
                },
                [&] {
                    CHECK(spans(encoder.encode_with_spans(texts, {}, threads)) == expected,
                          kind.name);
                });
        }
    }
}

TEST(memory_ends_while_a_model_is_made) {
    const std::string text = words(2000);
    const Bytes bytes = bytes_of(text);
    const auto ids = [&](const Kind& kind) {
        Encoder encoder(kind.model, kind.family, isa::best());
        return list(encoder.encode({text_of(bytes)}, 1).ids);
    };
    for (std::size_t i = 0; i < kinds(text).size(); ++i) {
        const std::vector<Id> expected = ids(kinds(text)[i]);
        std::optional<Kind> made;
        fail_each_allocation([&] { made.reset(); }, [&] { made = kinds(text)[i]; }, kNothing);
        CHECK(made && ids(*made) == expected);
    }
}

TEST(memory_ends_while_ids_are_decoded) {
    std::vector<std::string> tokens = byte_tokens();
    tokens.push_back(std::string(100, 'x'));
    const Vocabulary known = vocabulary(tokens);
    std::vector<Id> ids;
    for (std::size_t i = 0; i < 200'000; ++i) ids.push_back(static_cast<Id>(i % 257));
    std::optional<Decoder> decoder;
    fail_each_allocation([&] { decoder.reset(); },
                         [&] { decoder.emplace(known.bytes, known.offsets); }, kNothing);
    const Bytes expected = decoded(*decoder, ids, 1);
    for (const std::size_t threads : kThreads) {
        Bytes found;
        fail_each_allocation(
            kNothing, [&] { found = decoded(*decoder, ids, threads); },
            [&] { CHECK(decoded(*decoder, ids, threads) == expected); });
        CHECK(found == expected);
    }
}

TEST(memory_ends_while_rows_are_filled) {
    std::vector<std::int64_t> offsets{0};
    std::vector<Id> ids;
    for (Id document = 0; document < 300; ++document) {
        ids.insert(ids.end(), document % 9, document);
        offsets.push_back(static_cast<std::int64_t>(ids.size()));
    }
    const std::vector<std::int64_t> values{1, 0, 2};
    std::vector<std::int64_t> places;
    for (std::int64_t i = 0; i < std::ssize(ids); ++i) places.insert(places.end(), {i, i + 1});
    const std::vector<std::uint32_t> spaces(2 * 300, 1);
    RowLayout layout;
    layout.parts = {kTemplate, 0, kTemplate};
    layout.max_length = 5;
    layout.overflow = true;
    const Rows::Shape shape{5, false};
    const auto filled = [&]<typename T>(T, std::size_t numbers, const auto& fill_rows) {
        return [&, numbers] {
            const Rows rows(layout, {offsets});
            std::vector<T> out(numbers * static_cast<std::size_t>(rows.items(shape)));
            fill_rows(rows, std::span(out));
            return out;
        };
    };
    const std::array<std::span<const Id>, 2> texts{std::span<const Id>(ids), {}};
    const auto of_type = [&]<typename T>(T kind, std::size_t threads) {
        fail_each("ids",
                  filled(kind, 1,
                         [&](const Rows& rows, std::span<T> out) {
                             gather(rows, shape, out, texts, values, 0, threads);
                         }),
                  kNothing);
    };
    for (const std::size_t threads : kThreads) {
        of_type(std::int64_t{}, threads);
        of_type(Id{}, threads);
        fail_each("parts",
                  filled(std::int8_t{}, 1,
                         [&](const Rows& rows, auto out) {
                             fill(rows, shape, out, values, std::int64_t{7}, threads);
                         }),
                  kNothing);
        fail_each("spans",
                  filled(std::int64_t{}, 2,
                         [&](const Rows& rows, auto out) {
                             const SpanTrim trim{texts, spaces, true};
                             gather_spans(rows, shape, out,
                                          {std::span<const std::int64_t>(places), {}}, trim,
                                          threads);
                         }),
                  kNothing);
    }
}

TEST(memory_ends_while_json_lines_are_read) {
    std::string lines;
    for (int i = 0; i < 200; ++i)
        lines += i % 7 ? "{\"id\": 1, \"text\": \"a\\u00e9 b\"}\n" : "{\"text\": [1, 2]}\n";
    const Bytes bytes = bytes_of(lines);
    const auto read = [&] {
        std::vector<std::uint8_t> out(bytes.size());
        const JsonTexts found = read_json_lines(text_of(bytes), "text", out.data(), isa::best());
        return std::pair(found.ends, found.refused);
    };
    fail_each("json lines", read, kNothing);
}

#if TOKSMITH_FAILING_THREADS
TEST(an_encoder_does_without_threads_that_do_not_start) {
    const std::string text = words(24'000);
    const Bytes bytes = bytes_of(text);
    for (const Kind& kind : kinds(text)) {
        Encoder encoder(kind.model, kind.family, isa::best());
        const Result expected = result(encoder.encode({text_of(bytes)}, 1));
        for (const std::size_t most : {0, 1, 2}) {
            encoder.forget();
            const MostThreads limit(most);
            CHECK(result(encoder.encode({text_of(bytes)}, 4)) == expected, kind.name);
            CHECK(encoder.count({text_of(bytes)}, 4) == expected.ids.size(), kind.name);
        }
    }
}
#endif

}  // namespace toksmith::test

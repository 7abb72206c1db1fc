// Input given as the characters of a str: conversion to UTF-8, and encoding.
#include <atomic>
#include <memory>
#include <string>

#include "kit.hpp"
#include "utf8/encode.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

Bytes narrowed(isa::Level level, const InputText& source) {
    Bytes bytes(source.most_bytes() + to_utf8::kBytes);
    const std::uint8_t* const end = kernels_for(level).to_utf8(source, bytes.data());
    bytes.resize(static_cast<std::size_t>(end - bytes.data()));
    return bytes;
}

// The same number of each length in UTF-8, including the first and last code points of each.
std::uint32_t random_code(Random& random, utf8::Width width) {
    constexpr std::uint32_t kEnds[] = {0,      0x7F,   0x80,   0xFF,    0x100,   0x7FF,   0x800,
                                       0xD7FF, 0xE000, 0xFFFF, 0x10000, 0x1F600, 0x10FFFF};
    const std::uint32_t below = width == utf8::kFourBytes ? 0x110000 : 1u << 8 * width;
    std::uint32_t code;
    do {
        const std::uint32_t limits[] = {0x80, 0x800, 0x10000, 0x110000};
        code = static_cast<std::uint32_t>(random.below(4) ? random.below(limits[random.below(4)])
                                                          : kEnds[random.below(13)]);
    } while (code >= below || utf8::is_surrogate(code));
    return code;
}

}  // namespace

TEST(characters_are_written_as_utf8) {
    const auto bytes_of = [](std::uint32_t code) {
        std::string bytes(4, '\0');
        bytes.resize(utf8::encode(code, reinterpret_cast<std::uint8_t*>(bytes.data())));
        CHECK(bytes.size() == utf8::size_of(code));
        return bytes;
    };
    CHECK(bytes_of(0) == std::string(1, '\0') && bytes_of(0x7F) == "\x7F");
    CHECK(bytes_of(0x80) == "\xC2\x80" && bytes_of(0x7FF) == "\xDF\xBF");
    CHECK(bytes_of(0x800) == "\xE0\xA0\x80" && bytes_of(0xFFFF) == "\xEF\xBF\xBF");
    CHECK(bytes_of(0x10000) == "\xF0\x90\x80\x80" && bytes_of(0x10FFFF) == "\xF4\x8F\xBF\xBF");
    for (std::uint32_t code = 0; code < 0x110000; ++code) {
        if (utf8::is_surrogate(code)) continue;
        const std::string bytes = bytes_of(code);
        const auto* begin = reinterpret_cast<const std::uint8_t*>(bytes.data());
        const utf8::Char read = utf8::decode(begin, begin + bytes.size());
        CHECK(read.code == code && read.size == bytes.size());
    }
}

TEST(strings_of_any_width_are_the_same_in_utf8) {
    Random random{31};
    for (const utf8::Width width : kWidths) {
        for (int round = 0; round < 2000; ++round) {
            Characters string({}, width);
            Bytes expected;
            for (std::size_t left = random.below(200); left > 0; --left) {
                // Rounds differ in the share of ASCII.
                const std::uint32_t code = random.below(20) < static_cast<std::size_t>(round % 20)
                                               ? static_cast<std::uint32_t>(random.below(0x80))
                                               : random_code(random, width);
                string.push(code);
                expected.resize(expected.size() + 4);
                const std::uint32_t size = utf8::encode(code, &expected[expected.size() - 4]);
                expected.resize(expected.size() - 4 + size);
            }
            for (const isa::Level level : levels())
                CHECK(narrowed(level, string.source()) == expected);
            CHECK(expected.size() <= string.source().most_bytes());
        }
    }
}

TEST(surrogates_are_repaired_at_any_place) {
    const auto with = [](const std::vector<std::uint32_t>& units, std::size_t place,
                         utf8::Width width, std::size_t size) {
        Characters string({}, width);
        for (std::size_t i = 0; i < place; ++i) string.push('a');
        for (const std::uint32_t unit : units) string.push(unit);
        for (std::size_t i = place + units.size(); i < size; ++i) string.push('b');
        return string;
    };
    struct Case {
        std::vector<std::uint32_t> units;
        std::string utf8;
    };
    const std::string lone = "\xEF\xBF\xBD", pair = "\xF0\x9F\x98\x80";
    const Case cases[] = {{{0xD800}, lone},
                          {{0xDBFF}, lone},
                          {{0xDC00}, lone},
                          {{0xDFFF}, lone},
                          {{0xD83D, 0xDE00}, pair},
                          {{0xD83D, 0xD83D, 0xDE00}, lone + pair},
                          {{0xD83D, 0xDE00, 0xDE00}, pair + lone},
                          {{0xDE00, 0xD83D}, lone + lone},
                          {{0xD83D, 0xE9, 0xDE00}, lone + "\xC3\xA9" + lone}};
    for (const utf8::Width width : {utf8::kTwoBytes, utf8::kFourBytes}) {
        for (const Case& each : cases) {
            for (std::size_t place = 0; place < 40; ++place) {
                const Characters string = with(each.units, place, width, 40);
                const std::size_t end = place + each.units.size();
                const Bytes expected = bytes_of(std::string(place, 'a') + each.utf8 +
                                                std::string(end < 40 ? 40 - end : 0, 'b'));
                for (const isa::Level level : levels())
                    CHECK(narrowed(level, string.source()) == expected);
            }
        }
        // The place where a long string is converted in a second step.
        for (const std::size_t place : {(1u << 20) - 2, (1u << 20) - 1, 1u << 20}) {
            const Characters string = with({0xD83D, 0xDE00}, place, width, (1 << 20) + 9);
            const Bytes expected =
                bytes_of(std::string(place, 'a') + pair + std::string((1 << 20) + 7 - place, 'b'));
            CHECK(narrowed(isa::best(), string.source()) == expected);
        }
    }
}

TEST(about_as_many_bytes_as_a_string_has) {
    const std::string page = "a few \xC3\xA9\xC3\xA9, \xE4\xB8\xAD; ";
    Bytes text;
    for (int i = 0; i < 20'000; ++i) text.insert(text.end(), page.begin(), page.end());
    CHECK(InputText(text_of(text)).about_bytes() == text.size());
    const Characters string(text_of(text), utf8::kTwoBytes);
    const std::size_t about = string.source().about_bytes();
    CHECK(about > text.size() * 9 / 10 && about < text.size() * 11 / 10);
    CHECK(Characters({}, utf8::kTwoBytes).source().about_bytes() == 0);
}

TEST(strings_become_the_ids_of_their_utf8) {
    Random random{32};
    const Bytes page = random_text(random, 3000);
    const auto model = random_merges(random, text_of(page), 100).model();
    Bytes text;
    while (text.size() < 1'500'000) text.insert(text.end(), page.begin(), page.end());
    for (const utf8::Width width : kWidths) {
        const Characters string(text_of(text), width), short_one(text_of(page), width);
        for (int family = 0; family < kPatterns; ++family) {
            // With Family::kNone the text is one chunk, which is slow to merge.
            const Characters& given = family == 0 ? short_one : string;
            for (const isa::Level level : levels()) {
                Encoder encoder(model, static_cast<Family>(family), level);
                const std::vector<Id> ids = list(encoder.encode({given.utf8()}, 1).ids);
                for (std::size_t threads = 1; threads <= 3; ++threads)
                    CHECK(list(encoder.encode({given.source()}, threads).ids) == ids);
                CHECK(encoder.count({given.source()}, 2) == ids.size());
                const auto as_list = [](const IdArray& here) { return list(here); };
                CHECK(encoder.encode_here(given.source(), as_list) == ids);
            }
        }
    }
}

TEST(strings_and_bytes_go_side_by_side) {
    Random random{33};
    const Bytes page = random_text(random, 3000);
    const auto model = random_merges(random, text_of(page), 100).model();
    std::vector<Characters> strings;
    std::vector<InputText> given, as_utf8;
    for (int i = 0; i < 3000; ++i) {
        const Bytes text = random_text(random, random.below(i % 100 ? 30 : 3000));
        strings.emplace_back(text_of(text), kWidths[random.below(3)]);
    }
    for (const Characters& string : strings) {
        as_utf8.push_back(string.utf8());
        given.push_back(random.below(2) ? as_utf8.back() : string.source());
    }
    for (const isa::Level level : levels()) {
        Encoder encoder(model, Family::kCl100k, level);
        const Encoded expected = encoder.encode(as_utf8, 1);
        for (std::size_t threads = 1; threads <= 3; ++threads) {
            const Encoded encoded = encoder.encode(given, threads);
            CHECK(list(encoded.ids) == list(expected.ids) && encoded.offsets == expected.offsets);
            CHECK(encoder.count(given, threads) == list(expected.ids).size());
        }
    }
}

// The search for a cut extends its range step by step.
TEST(a_string_that_can_be_cut_nowhere_is_one_piece) {
    const auto model = Merges().model();
    Characters string({}, utf8::kTwoBytes);
    const std::string letter = "\xC3\xA9";
    const auto* begin = reinterpret_cast<const std::uint8_t*>(letter.data());
    for (int i = 0; i < 900'000; ++i) string.push(0xE9, {begin, begin + letter.size()});
    for (const Family family : {Family::kGpt2, Family::kO200k}) {
        Encoder encoder(model, family, isa::best());
        const std::vector<Id> ids = list(encoder.encode({string.utf8()}, 1).ids);
        CHECK(ids.size() == 1'800'000);
        CHECK(list(encoder.encode({string.source()}, 2).ids) == ids);
    }
}

// Cuts are indexes into the string, but found in its UTF-8, where a surrogate pair is one character
// and an unpaired surrogate is U+FFFD.
TEST(strings_with_surrogates_are_cut_between_characters) {
    Random random{35};
    const Bytes page = random_text(random, 3000);
    const auto model = random_merges(random, text_of(page), 100).model();
    for (const utf8::Width width : {utf8::kTwoBytes, utf8::kFourBytes}) {
        Characters string({}, width);
        Bytes repaired;
        const auto push = [&](std::initializer_list<std::uint32_t> units, const char* utf8) {
            for (const std::uint32_t unit : units) string.push(unit);
            const Bytes bytes = bytes_of(utf8);
            repaired.insert(repaired.end(), bytes.begin(), bytes.end());
        };
        while (repaired.size() < 2'000'000) {
            switch (random.below(4)) {
                case 0:
                    push({0xD83D, 0xDE00}, "\xF0\x9F\x98\x80");
                    break;
                case 1:
                    push({0xDC80}, "\xEF\xBF\xBD");
                    break;
                case 2:
                    push({' ', 'a', 'b'}, " ab");
                    break;
                default:
                    push({0xE9, '\n'}, "\xC3\xA9\n");
            }
        }
        for (const Family family : {Family::kGpt2, Family::kO200k}) {
            Encoder encoder(model, family, isa::best());
            const std::vector<Id> ids = list(encoder.encode({text_of(repaired)}, 1).ids);
            for (std::size_t threads = 1; threads <= 3; ++threads)
                CHECK(list(encoder.encode({string.source()}, threads).ids) == ids);
            CHECK(encoder.count({string.source()}, 2) == ids.size());
        }
    }
}

TEST(a_batch_with_surrogates_is_encoded_once) {
    // Counts the chunks that it encodes.
    class Counting final : public Model {
     public:
        std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
        void encode_chunk(const std::uint8_t*, std::size_t, Scratch&, IdArray& out,
                          IdArray*) const override {
            ++chunks;
            out.push(1);
        }
        mutable std::atomic<int> chunks = 0;
    };
    const std::uint16_t lone[] = {'a', 0xDC80}, pair[] = {' ', 0xD83D, 0xDE00};
    for (const isa::Level level : levels()) {
        const auto model = std::make_shared<Counting>();
        Encoder encoder(model, Family::kGpt2, level);
        const Encoded encoded = encoder.encode(
            {InputText(lone, 2, utf8::kTwoBytes), InputText(pair, 3, utf8::kTwoBytes)}, 1);
        CHECK(encoded.offsets == (std::vector<std::int64_t>{0, 2, 3}));
        CHECK(model->chunks == 3);
    }
}

// Strings as they are given, by the characters: what they are in UTF-8, and what they become.
#include <atomic>
#include <memory>
#include <string>

#include "kit.hpp"
#include "utf8/encode.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

Bytes narrowed(isa::Level level, const Source& source) {
    Bytes bytes(source.most_bytes() + narrow::kBytes);
    const std::uint8_t* const end = loops(level).narrow(source, bytes.data());
    bytes.resize(static_cast<std::size_t>(end - bytes.data()));
    return bytes;
}

// As many of one kind as of another: ASCII, two, three and four bytes, and what lies at their ends.
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
                // Mostly ASCII, or not.
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

TEST(surrogates_are_refused_wherever_they_stand) {
    for (const utf8::Width width : {utf8::kTwoBytes, utf8::kFourBytes}) {
        for (const std::uint32_t surrogate : {0xD800u, 0xDBFFu, 0xDC00u, 0xDFFFu}) {
            for (std::size_t place = 0; place < 40; ++place) {
                Characters string({}, width);
                for (std::size_t i = 0; i < 40; ++i) string.push(i == place ? surrogate : 'a');
                for (const isa::Level level : levels()) {
                    bool refused = false;
                    try {
                        narrowed(level, string.source());
                    } catch (const HasSurrogates&) {
                        refused = true;
                    }
                    CHECK(refused);
                }
            }
        }
    }
}

TEST(about_as_many_bytes_as_a_string_has) {
    const std::string page = "a few \xC3\xA9\xC3\xA9, \xE4\xB8\xAD; ";
    Bytes text;
    for (int i = 0; i < 20'000; ++i) text.insert(text.end(), page.begin(), page.end());
    CHECK(Source(text_of(text)).about_bytes() == text.size());
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
            // One chunk is not cut, and slow to merge.
            const Characters& given = family == 0 ? short_one : string;
            for (const isa::Level level : levels()) {
                Encoder encoder(model, static_cast<Family>(family), level);
                const std::vector<Id> ids = list(encoder.encode({given.utf8()}, 1).ids);
                for (std::size_t threads = 1; threads <= 3; ++threads)
                    CHECK(list(encoder.encode({given.source()}, threads).ids) == ids);
                CHECK(encoder.count({given.source()}, 2) == ids.size());
                const auto as_list = [](const Ids& here) { return list(here); };
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
    std::vector<Source> given, as_utf8;
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

// Cuts are looked for in more and more of it.
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

TEST(surrogates_in_a_long_string_are_refused_on_threads) {
    Characters string({}, utf8::kFourBytes);
    for (int i = 0; i < 900'000; ++i) string.push(i == 700'000 ? 0xDC80 : i % 6 ? 'a' : ' ');
    Encoder encoder(Merges().model(), Family::kGpt2, isa::best());
    for (std::size_t threads = 1; threads <= 2; ++threads) {
        bool refused = false;
        try {
            encoder.encode({string.source()}, threads);
        } catch (const HasSurrogates&) {
            refused = true;
        }
        CHECK(refused);
    }
}

TEST(surrogates_leave_what_the_caches_know) {
    // Counts the chunks that it is asked for.
    class Counting final : public Model {
     public:
        std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
        void encode_chunk(const std::uint8_t*, std::size_t, Scratch&, Ids& out,
                          Ids*) const override {
            ++asked;
            out.push(1);
        }
        mutable std::atomic<int> asked = 0;
    };
    const auto model = std::make_shared<Counting>();
    const std::string known = "some words are known";
    const auto* begin = reinterpret_cast<const std::uint8_t*>(known.data());
    const Text text{begin, begin + known.size()};
    Characters broken({}, utf8::kTwoBytes);
    for (const char letter : known) broken.push(static_cast<std::uint8_t>(letter));
    broken.push(0xDC80);
    for (const isa::Level level : levels()) {
        Encoder encoder(model, Family::kGpt2, level);
        const auto refused = [&](const auto& work) {
            try {
                work();
                return false;
            } catch (const HasSurrogates&) {
                return true;
            }
        };
        encoder.encode({text}, 1);
        model->asked = 0;
        CHECK(refused([&] { encoder.encode({broken.source()}, 1); }));
        CHECK(refused([&] { encoder.count({text, broken.source()}, 1); }));
        CHECK(refused([&] { encoder.encode_here(broken.source(), [](const Ids&) { return 0; }); }));
        encoder.encode({text}, 1);
        CHECK(model->asked == 0);
    }
}

// Decodes known and unknown ids of a vocabulary that is cut out of the input.
#include <optional>

#include "encode/decoder.hpp"
#include "fuzz.hpp"
#include "utf8/from_utf8.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// The code points of a text, or nothing if it is invalid UTF-8.
std::optional<std::vector<std::uint32_t>> characters(const Bytes& text) {
    std::vector<std::uint32_t> result;
    for (const std::uint8_t *p = text.data(), *end = p + text.size(); p < end;) {
        const utf8::Char next = utf8::decode(p, end);
        if (next.code == utf8::kInvalid) return std::nullopt;
        result.push_back(next.code);
        p += next.size;
    }
    return result;
}

// The code points that the decoder writes, or nothing if it returns false.
std::optional<std::vector<std::uint32_t>> characters(const Decoder& decoder,
                                                     const std::vector<Id>& ids,
                                                     std::string_view before, std::size_t threads) {
    const Decoder::Parts parts = decoder.measure(ids.data(), ids.size(), threads, before);
    const auto written = [&](auto unit) -> std::optional<std::vector<std::uint32_t>> {
        std::vector<decltype(unit)> out(parts.characters());
        if (!decoder.decode_characters(ids.data(), parts, out.data())) return std::nullopt;
        return std::vector<std::uint32_t>(out.begin(), out.end());
    };
    return parts.width >= utf8::kFourBytes  ? written(std::uint32_t{})
           : parts.width >= utf8::kTwoBytes ? written(std::uint16_t{})
                                            : written(std::uint8_t{});
}

// Whole characters, none wider than a random width.
Bytes some_characters(Random& random) {
    static const std::string_view kCharacters[] = {"a",      " ", "the ", "é",
                                                   "\u00ff", "ж", "中",   "😀"};
    const std::size_t kinds = 1 + random.below(std::size(kCharacters));
    Bytes text;
    for (std::size_t i = random.below(300); i > 0; --i) {
        const std::string_view piece = kCharacters[random.below(kinds)];
        text.insert(text.end(), piece.begin(), piece.end());
    }
    return text;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    const bool in_order = random.below(2) == 0;
    if (in_order) input.text = some_characters(random);
    std::vector<std::uint64_t> offsets = {0};
    while (offsets.back() < input.text.size()) {
        const std::size_t left = input.text.size() - offsets.back();
        offsets.push_back(offsets.back() + random.below(std::min<std::size_t>(left, 40) + 1));
    }
    const std::size_t vocab = offsets.size() - 1;
    std::vector<std::uint8_t> is_known;  // sometimes differs from "has bytes"
    if (random.below(2) == 0) {
        is_known.resize(vocab);
        for (std::uint8_t& each : is_known) each = random.below(8) != 0;
    }
    const Decoder decoder(input.text, offsets, is_known);

    // Seldom enough ids for several threads.
    const bool is_long = random.below(256) == 0 && random.below(4) == 0;
    std::vector<Id> ids(random.below(is_long ? 200'000 : 300));
    const std::size_t highest = vocab + (random.below(4) == 0);
    for (std::size_t i = 0; i < ids.size(); ++i) {
        ids[i] = highest ? static_cast<Id>(in_order ? i % highest : random.below(highest)) : 0;
    }

    Bytes expected;
    std::size_t known = 0;
    for (; known < ids.size() && ids[known] < vocab; ++known) {
        const auto start = offsets[ids[known]], end = offsets[ids[known] + 1];
        if (is_known.empty() ? start == end : !is_known[ids[known]]) break;
        expected.insert(expected.end(), &input.text[start], &input.text[start] + (end - start));
    }
    const std::size_t unknown = decoder.first_unknown(ids.data(), ids.size());
    CHECK(unknown == (known == ids.size() ? Decoder::kAllKnown : known));
    CHECK(decoder.measure(ids.data(), ids.size(), 2).known() == (known == ids.size()));
    ids.resize(known);
    for (const std::size_t threads : {1, 3}) {
        CHECK(decoded(decoder, ids, threads) == expected);
        CHECK(characters(decoder, ids, "", threads) == characters(expected));
    }
    for (const std::string_view before : {"x", "é", "\xe4", "\x80"}) {
        Bytes behind(before.begin(), before.end());
        behind.insert(behind.end(), expected.begin(), expected.end());
        const auto found = characters(decoder, ids, before, 2);
        // `before` must end with a whole character; otherwise decode_characters() may return false.
        if (found || before != "\xe4") CHECK(found == characters(behind));
    }
    return 0;
}

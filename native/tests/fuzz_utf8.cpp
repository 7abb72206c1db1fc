// Decodes the input as UTF-8 in every way the kernel has, and compares with a decoder that tries
// each length of a character.
#include "fuzz.hpp"
#include "text/character_places.hpp"
#include "utf8/encode.hpp"
#include "utf8/from_utf8.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// A character is valid if its code point, encoded again, gives the same bytes.
utf8::Char decode_slowly(const std::uint8_t* p, const std::uint8_t* end) {
    for (std::uint32_t size = 1; size <= 4 && size <= end - p; ++size) {
        std::uint32_t code = size == 1 ? p[0] : p[0] & (0x7Fu >> size);
        for (std::uint32_t i = 1; i < size; ++i) code = code << 6 | (p[i] & 0x3F);
        if (code > 0x10FFFF || utf8::is_surrogate(code)) continue;
        std::uint8_t bytes[utf8::kMostBytes];
        if (utf8::encode(code, bytes) == size && std::equal(p, p + size, bytes))
            return {code, size};
    }
    return {utf8::kInvalid, 1};
}

template <typename Unit>
void check_units(Text text, const std::vector<std::uint32_t>& codes) {
    std::vector<Unit> out(codes.size());
    Unit* to = out.data();
    const std::uint8_t* const stop =
        utf8::from_utf8(text.begin, text.end, to, out.data() + out.size());
    const auto count = static_cast<std::size_t>(to - out.data());
    CHECK(count == codes.size());
    CHECK(stop <= text.end);
    for (std::size_t i = 0; i < count; ++i) CHECK(out[i] == static_cast<Unit>(codes[i]));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const Bytes bytes(data, data + size);
    const Text text = text_of(bytes);
    std::vector<std::uint32_t> valid;          // before the first invalid byte
    std::vector<std::int64_t> character_of{};  // by byte
    const std::uint8_t* invalid = text.end;
    std::int64_t count = 0;
    for (const std::uint8_t* p = text.begin; p < text.end; ++count) {
        const utf8::Char c = utf8::decode(p, text.end), expected = decode_slowly(p, text.end);
        CHECK(c.code == expected.code && c.size == expected.size);
        if (c.code == utf8::kInvalid) invalid = std::min(invalid, p);
        if (invalid == text.end) valid.push_back(c.code);
        character_of.insert(character_of.end(), c.size, count);
        p += c.size;
    }
    CHECK(utf8::is_valid({reinterpret_cast<const char*>(data), size}) == (invalid == text.end));
    CHECK(utf8::is_ascii(text.begin, text.end) ==
          std::ranges::all_of(bytes, [](std::uint8_t byte) { return byte < 0x80; }));
    check_units<std::uint8_t>(text, valid);
    check_units<std::uint16_t>(text, valid);
    check_units<std::uint32_t>(text, valid);

    utf8::CharacterPlaces places;
    for (const isa::Level level : levels()) {
        CHECK(utf8::first_invalid(text.begin, text.end, level) == invalid);
        places.read(text, level);
        CHECK(places.count() == count);
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t last = std::min(size - 1, i + i % 7);
            const auto [from, to] =
                places.touched(static_cast<std::int64_t>(i), static_cast<std::int64_t>(last) + 1);
            CHECK(from == character_of[i] && to == character_of[last] + 1);
        }
    }
    return 0;
}

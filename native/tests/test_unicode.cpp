// Decoding UTF-8, and the classes of characters.
#include "kit.hpp"
#include "split/unicode.hpp"

using namespace toksmith;
using namespace toksmith::test;
using unicode::Class;

namespace {

utf8::Char decode(std::string_view text) {
    const Bytes bytes = bytes_of(text);
    return utf8::decode(bytes.data(), bytes.data() + bytes.size());
}

}  // namespace

TEST(utf8_valid) {
    const struct {
        std::string_view text;
        std::uint32_t code, size;
    } cases[] = {{"a", 'a', 1},
                 {{"\0", 1}, 0, 1},
                 {"\x7F", 0x7F, 1},
                 {"\xC2\x80", 0x80, 2},
                 {"\xDF\xBF", 0x7FF, 2},
                 {"\xE0\xA0\x80", 0x800, 3},
                 {"\xED\x9F\xBF", 0xD7FF, 3},
                 {"\xEE\x80\x80", 0xE000, 3},
                 {"\xEF\xBF\xBF", 0xFFFF, 3},
                 {"\xF0\x90\x80\x80", 0x10000, 4},
                 {"\xF4\x8F\xBF\xBF", 0x10FFFF, 4},
                 {"\xC3\xA9\xA9", 0xE9, 2}};
    for (const auto& [text, code, size] : cases) {
        CHECK(decode(text).code == code, std::to_string(code));
        CHECK(decode(text).size == size, std::to_string(code));
    }
}

TEST(utf8_invalid) {
    const std::string_view cases[] = {"\x80",
                                      "\xBF",  // a stray continuation byte
                                      "\xC0\x80",
                                      "\xC1\xBF",  // overlong with two bytes
                                      "\xE0\x80\x80",
                                      "\xE0\x9F\xBF",  // overlong with three bytes
                                      "\xF0\x80\x80\x80",
                                      "\xF0\x8F\xBF\xBF",  // overlong with four bytes
                                      "\xED\xA0\x80",
                                      "\xED\xBF\xBF",  // surrogates
                                      "\xF4\x90\x80\x80",
                                      "\xF5\x80\x80\x80",  // above U+10FFFF
                                      "\xFE",
                                      "\xFF",
                                      "\xF8\x88\x80\x80\x80",
                                      "\xC3",
                                      "\xE2\x82",
                                      "\xE2",  // truncated by the end of the text
                                      "\xF0\x9F\x98",
                                      "\xF0\x9F",
                                      "\xF0",
                                      "\xC3"
                                      "a",
                                      "\xE2\x82"
                                      "a",
                                      "\xE2"
                                      "a\x82",  // truncated by another character
                                      "\xF0\x9F\x98"
                                      "a",
                                      "\xF0\x9F"
                                      "a\x98",
                                      "\xF0"
                                      "aaa",
                                      "\xC3\xC3",
                                      "\xE2\x82\xE2",
                                      "\xF0\x9F\x98\xFF"};
    for (const std::string_view text : cases) {
        const utf8::Char character = decode(text);
        CHECK(character.code == utf8::kInvalid && character.size == 1, std::string(text));
    }
}

TEST(unicode_classes) {
    const struct {
        Class kind;
        std::vector<std::uint32_t> codes;
    } cases[] = {
        {Class::kUpper, {'A', 'Z', 0xC9, 0x1C5 /* Lt */, 0x416, 0x1C89 /* new in 16 */, 0x10400}},
        {Class::kLower, {'a', 'z', 0xDF, 0xE9, 0x17F, 0x436, 0x1D41A}},
        {Class::kUncased, {0xAA, 0x2B0, 0x5D0, 0x4E00, 0xAC00, 0x20000}},
        {Class::kMark, {0x301, 0x903, 0x20DD, 0xFE0F, 0xE0100}},
        {Class::kNumber, {'0', '9', 0xBD, 0x663, 0x2167, 0x1D7CE, 0x10D40 /* new in 16 */}},
        {Class::kSpace, {' ', '\t', '\v', '\f', 0x85, 0xA0, 0x1680, 0x2028, 0x202F, 0x3000}},
        {Class::kNewline, {'\r', '\n'}},
        {Class::kOther,
         {0, '\'', '_', '/', 0x1C, 0x1F, 0x7F, 0x180E, 0x200B, 0x20AC, 0xFEFF, 0x1F600, 0x378,
          0xD800, 0xE000, 0x10FFFF, 0x110000, utf8::kInvalid}},
    };
    for (const auto& [kind, codes] : cases) {
        for (const std::uint32_t code : codes) {
            CHECK(unicode::class_of(code) == kind, "U+" + std::to_string(code));
        }
    }
}

// Reads the input as JSON Lines: unchanged, as valid lines with a few changed bytes, and as a text
// that is written as JSON. All instruction sets read the same.
#include "fuzz.hpp"
#include "text/json_lines.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Read {
    std::vector<std::string> texts;
    std::vector<std::int64_t> refused;
    std::int64_t lines;
    bool operator==(const Read&) const = default;
};

Read read_on(isa::Level level, const std::string& file) {
    // No larger than required, so that a sanitizer reports a write past the end.
    std::vector<std::uint8_t> out(file.size());
    const std::vector<std::uint8_t> lines(file.begin(), file.end());
    const JsonTexts found =
        read_json_lines({lines.data(), lines.data() + lines.size()}, "text", out.data(), level);
    Read result{{}, found.refused, found.lines};
    std::int64_t start = 0;
    for (const std::int64_t end : found.ends) {
        CHECK(start <= end && end <= static_cast<std::int64_t>(file.size()));
        result.texts.emplace_back(out.begin() + start, out.begin() + end);
        CHECK(utf8::is_valid(result.texts.back()));
        start = end;
    }
    return result;
}

Read read(const std::string& file, Random& random) {
    const Read found = read_on(isa::Level::kScalar, file);
    for (const isa::Level level : some_levels(random)) CHECK(read_on(level, file) == found);
    const auto feeds = std::ranges::count(file, '\n');
    CHECK(found.lines == feeds + !(file.empty() || file.ends_with('\n')));
    CHECK(found.refused.size() % 4 == 0);
    CHECK(found.texts.size() + found.refused.size() / 4 <= static_cast<std::size_t>(found.lines));
    return found;
}

std::string lines_of(Random& random) {
    static constexpr std::string_view kValues[] = {"\"low\"", "\"\\n\\u00e9\\ud83d\\ude00 lower\"",
                                                   "-1.5e3", "[{}, true]", "null"};
    std::string file;
    for (std::size_t i = random.below(5); i > 0; --i) {
        file += "{\"id\": " + std::string(kValues[random.below(5)]) +
                ", \"text\": " + std::string(kValues[random.below(5)]) + "}\n";
    }
    return file;
}

std::string escape_of(std::uint32_t unit) {
    char escape[8];
    std::snprintf(escape, sizeof escape, "\\u%04x", unit & 0xFFFF);
    return escape;
}

// The JSON of a text, with random escapes. Invalid bytes are left out of both.
std::string json_of(const Bytes& text, Random& random, std::string& meant) {
    std::string json;
    const std::uint8_t* const end = text.data() + text.size();
    for (const std::uint8_t* p = text.data(); p < end;) {
        const utf8::Char c = utf8::decode(p, end);
        const std::string character(p, p + c.size);
        p += c.size;
        if (c.code == utf8::kInvalid) continue;
        meant += character;
        if (c.code >= 0x20 && c.code != '"' && c.code != '\\' && random.below(8) != 0) {
            json += character;
        } else if (c.code < 0x10000) {
            json += escape_of(c.code);
        } else {
            json += escape_of(0xD800 + ((c.code - 0x10000) >> 10));
            json += escape_of(0xDC00 + ((c.code - 0x10000) & 0x3FF));
        }
    }
    return json;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    read(std::string(input.text.begin(), input.text.end()), input.random);
    read(damaged(lines_of(input.random), input.random), input.random);
    std::string meant;
    const std::string json = json_of(input.text, input.random, meant);
    const Read found =
        read("{\"n\": [0, {}], \"text\": \"" + json + "\"}\r\n{\"text\":\"\"}", input.random);
    CHECK(found.refused.empty());
    CHECK(found.texts == std::vector<std::string>({meant, ""}));
    return 0;
}

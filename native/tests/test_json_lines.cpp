// The reader of one field of JSON Lines.
#include "text/json_lines.hpp"

#include "kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Found {
    std::vector<std::string> texts;
    std::vector<std::int64_t> refused;  // the numbers of the lines
};

Found read(std::string_view lines, isa::Level level = isa::best()) {
    const Bytes file(lines.begin(), lines.end());
    Bytes out(file.size());
    const JsonTexts found =
        read_json_lines({file.data(), file.data() + file.size()}, "text", out.data(), level);
    Found result;
    std::int64_t start = 0;
    for (const std::int64_t end : found.ends) {
        result.texts.emplace_back(out.begin() + start, out.begin() + end);
        start = end;
    }
    for (std::size_t i = 1; i < found.refused.size(); i += 4)
        result.refused.push_back(found.refused[i]);
    return result;
}

}  // namespace

TEST(json_lines_literals) {
    using Texts = std::vector<std::string>;
    using Numbers = std::vector<std::int64_t>;
    for (const isa::Level level : levels()) {
        const Found found = read(
            "{\"text\": \"low\"}\n\n"
            " { \"a\" : [1, -2.5e+3, {\"text\": \"x\"}], \"text\":\"\\u00e9\\n\\ud83d\\ude00\" } "
            "\r\n"
            "{\"text\": \"\"}\n{\"a\": {}, \"text\": \"a long text without any escape in it\"}",
            level);
        CHECK(found.texts == Texts({"low", "\xC3\xA9\n\xF0\x9F\x98\x80", "",
                                    "a long text without any escape in it"}));
        CHECK(found.refused == Numbers());
    }
}

TEST(lines_in_doubt_are_refused) {
    for (const std::string_view line : {
             "{}",
             "{\"text\": null}",
             "{\"text\": 5}",
             "{\"text\": \"a\", \"text\": \"b\"}",
             "{\"text\": \"a\"",
             "{\"text\": \"a\"} x",
             "{\"text\": \"\\ud83d\"}",
             "{\"text\": \"a\tb\"}",
             "{\"text\": \"\xC3\"}",
             "{\"text\": \"\\x41\"}",
             "{\"text\": \"a\", \"b\": 01}",
             "{\"text\": \"a\", \"b\": 1.}",
             "[\"text\"]",
             "{\"text\": \"a\", \"b\": tru}",
             "{\"text\": \"a\",}",
             "{'text': \"a\"}",
             "\\",
         }) {
        const Found found =
            read("{\"text\": \"low\"}\n" + std::string(line) + "\n{\"text\": \"er\"}");
        CHECK(found.texts == std::vector<std::string>({"low", "er"}));
        CHECK(found.refused == std::vector<std::int64_t>({1}));
    }
}

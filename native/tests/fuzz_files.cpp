// Parses the input as each kind of vocabulary file, unchanged and as a valid file with a few
// changed bytes. Checks that what is read is consistent.
#include <cmath>

#include "fuzz.hpp"
#include "text/character_map.hpp"
#include "text/json_lines.hpp"
#include "vocab/json_model.hpp"
#include "vocab/piece_file.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

void check_offsets(const Vocabulary& tokens) {
    CHECK(std::ranges::is_sorted(tokens.offsets));
    CHECK(tokens.offsets.back() == tokens.bytes.size());
}

void read_json(const std::string& file) {
    const auto model = JsonModel::read(file);
    if (!model) return;
    check_offsets(model->tokens());
    std::size_t found = 0;
    for (Id id = 0; id < model->tokens().size(); ++id) {
        const std::string_view token = model->tokens()[id];
        if (token.empty()) continue;
        ++found;
        CHECK(model->find(token) == id);
    }
    CHECK(found == model->size());
    CHECK(model->rest().size() <= file.size() + 8);  // "null" in two places
    if (model->scores()) CHECK(model->scores()->size() == found);
    if (model->merges()) {
        CHECK(model->merges()->size() % 3 == 0);
        for (const Id id : *model->merges()) CHECK(model->is_merged(id));
    }
    if (const auto spelled = model->spelled_bytes({0, 1000})) check_offsets(*spelled);
}

void read_pieces(const std::string& file) {
    const auto found = read_piece_file(file);
    if (!found) return;
    check_offsets(found->pieces);
    CHECK(found->scores.size() == found->pieces.size());
    CHECK(found->types.size() == found->pieces.size());
    CHECK(std::ranges::all_of(found->scores, [](double score) { return std::isfinite(score); }));
    CHECK(found->rest.size() <= file.size());
}

void read_map(const std::string& file, const std::string& text) {
    const auto map = CharacterMap::read(file);
    if (!map) return;
    const auto* const end = reinterpret_cast<const std::uint8_t*>(text.data()) + text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto match = map->longest(end - text.size() + i, end);
        CHECK(i + match.size <= text.size());
        CHECK(utf8::is_valid(match.text));
    }
}

void read_lines(const std::string& file) {
    // No larger than required, so that a sanitizer reports a write past the end.
    std::vector<std::uint8_t> out(file.size());
    const std::vector<std::uint8_t> lines(file.begin(), file.end());
    const JsonTexts found = read_json_lines({lines.data(), lines.data() + lines.size()}, "text",
                                            out.data(), isa::best());
    std::int64_t start = 0;
    for (const std::int64_t end : found.ends) {
        CHECK(start <= end && end <= static_cast<std::int64_t>(file.size()));
        CHECK(utf8::is_valid({reinterpret_cast<const char*>(out.data()) + start,
                              static_cast<std::size_t>(end - start)}));
        start = end;
    }
    const auto feeds = std::ranges::count(file, '\n');
    CHECK(found.lines == feeds + !(file.empty() || file.ends_with('\n')));
    CHECK(found.refused.size() % 4 == 0);
    CHECK(found.ends.size() + found.refused.size() / 4 <= static_cast<std::size_t>(found.lines));
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

std::string json_of(Random& random) {
    static constexpr std::string_view kTokens[] = {"a", "b", "ab", "\\u00e9", "Ġ", "\\n", "abab"};
    std::string vocab, merges;
    const std::size_t count = random.below(8);
    for (std::size_t i = 0; i < count; ++i) {
        vocab += (i ? ", \"" : "\"") + std::string(kTokens[i]) + "\": " + std::to_string(i);
    }
    for (std::size_t i = random.below(3); i > 0; --i) {
        merges += merges.empty() ? "" : ",";
        merges += random.below(2) ? "\"a b\"" : "[\"ab\", \"ab\"]";
    }
    return "{\"version\": 1, \"model\": {\"merges\": [" + merges + "], \"vocab\": {" + vocab +
           "}}, \"x\": [[], {\"y\": \"}\"}]}";
}

std::string piece_file_of(Random& random) {
    std::string file;
    for (std::size_t i = random.below(5); i > 0; --i) {
        const std::string piece = random.below(2) ? "ab" : "\xE2\x96\x81";
        std::string message = "\x0A" + std::string(1, static_cast<char>(piece.size())) + piece;
        if (random.below(2)) message += std::string("\x15\x00\x00\x80\x3F", 5);
        if (random.below(2)) message += std::string("\x18") + static_cast<char>(random.below(8));
        file += "\x0A" + std::string(1, static_cast<char>(message.size())) + message;
    }
    return file + std::string("\x12\x02\x08\x01", 4);
}

// A map of 256 units with random children, mostly damaged, and some replacements.
std::string map_of(Random& random) {
    std::string file = std::string("\x00\x04\x00\x00", 4) + std::string(1024, '\0');
    for (std::size_t i = random.below(12); i > 0; --i) {
        const std::size_t place = 4 + 4 * random.below(256);
        file[place] = static_cast<char>(random.below(256));
        file[place + 1] = static_cast<char>(random.below(8));
        file[place + 3] = static_cast<char>(random.below(2) << 7);
    }
    return file + std::string("x\0\xC3\xA9\0y\0", 8);
}

std::string damaged(std::string file, Random& random) {
    for (std::size_t i = random.below(4); i > 0 && !file.empty(); --i)
        file[random.below(file.size())] = static_cast<char>(random.next());
    if (random.below(4) == 0) file.resize(random.below(file.size() + 1));
    return file;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    const std::string text(input.text.begin(), input.text.end());
    read_json(text);
    read_pieces(text);
    read_map(text, text);
    read_lines(text);
    read_lines(damaged(lines_of(input.random), input.random));
    read_json(damaged(json_of(input.random), input.random));
    read_pieces(damaged(piece_file_of(input.random), input.random));
    read_map(damaged(map_of(input.random), input.random), text);
    return 0;
}

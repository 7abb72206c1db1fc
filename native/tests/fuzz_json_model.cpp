// Parses the input as a tokenizer.json, unchanged and as a small valid file with a few changed
// bytes. Checks that what is read is consistent.
#include "fuzz.hpp"
#include "vocab/json_model.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

void check_offsets(const Vocabulary& tokens) {
    CHECK(std::ranges::is_sorted(tokens.offsets));
    CHECK(tokens.offsets.back() == tokens.bytes.size());
}

void read(const std::string& file) {
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

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    const std::string text(input.text.begin(), input.text.end());
    read(text);
    read(damaged(json_of(input.random), input.random));
    return 0;
}

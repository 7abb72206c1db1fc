// Rewrites the input character by character, with replaced and bound characters, and compares with
// rewriting one stretch after the other.
#include "fuzz.hpp"
#include "text/character_mapper.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

using Kind = CharacterMapper::Kind;

struct Rules {
    std::uint32_t modulus;
    bool keeps_ascii;

    Kind kind(std::uint32_t code) const {
        if (code == utf8::kInvalid || (keeps_ascii && code < 0x80)) return Kind::kKept;
        return code % modulus < 3 ? static_cast<Kind>(code % modulus) : Kind::kKept;
    }
    std::string replacement(std::uint32_t code) const {
        return std::string(code % 4, static_cast<char>('A' + code % 26));
    }
    std::unique_ptr<const CharacterMapper::Block> block(std::uint32_t number) const {
        auto block = std::make_unique<CharacterMapper::Block>();
        for (std::uint32_t i = 0; i < CharacterMapper::kBlock; ++i) {
            const std::uint32_t code = number * CharacterMapper::kBlock + i;
            block->kinds[i] = kind(code);
            block->all_kept &= block->kinds[i] == Kind::kKept;
            block->begins[i] = static_cast<std::uint32_t>(block->text.size());
            if (block->kinds[i] == Kind::kReplaced) block->text += replacement(code);
            block->begins[i + 1] = static_cast<std::uint32_t>(block->text.size());
        }
        return block;
    }
};

// Keeps some stretches as they are.
std::string rewrite(std::string_view stretch) {
    if (stretch.size() % 3 == 0) return std::string(stretch);
    return "<" + std::string(stretch.substr(stretch.size() / 2)) + ">";
}

std::string map_slowly(const Rules& rules, Text text) {
    std::string out;
    for (const std::uint8_t* p = text.begin; p < text.end;) {
        const utf8::Char first = utf8::decode(p, text.end);
        const std::uint8_t* end = p + first.size;
        while (end < text.end) {
            const utf8::Char next = utf8::decode(end, text.end);
            if (rules.kind(next.code) != Kind::kBound) break;
            end += next.size;
        }
        const std::string stretch(p, end);
        const bool alone = end == p + first.size && rules.kind(first.code) != Kind::kBound;
        if (!alone) {
            out += rewrite(stretch);
        } else {
            out +=
                rules.kind(first.code) == Kind::kReplaced ? rules.replacement(first.code) : stretch;
        }
        p = end;
    }
    return out;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    const Rules rules{static_cast<std::uint32_t>(3 + input.random.below(40)),
                      input.random.below(2) == 0};
    const CharacterMapper mapper([&](std::uint32_t number) { return rules.block(number); },
                                 rewrite);
    const std::string text(input.text.begin(), input.text.end());
    const std::string expected = map_slowly(rules, text_of(input.text));
    for (int again = 0; again < 2; ++again) {  // the second time with stretches that are kept
        std::vector<std::uint8_t> out;
        const bool changed = mapper.map(text_of(input.text), out);
        CHECK((changed ? std::string(out.begin(), out.end()) : text) == expected);
        CHECK(changed || out.empty());
    }
    return 0;
}

// Finds added tokens that are cut out of the input, in UTF-8 and in strs, and compares with trying
// all tokens at each place.
#include "encode/added_tokens.hpp"
#include "fuzz.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// The characters that Unicode calls white space.
bool is_space(std::uint32_t code) {
    return (code >= 9 && code <= 13) || code == ' ' || code == 0x85 || code == 0xA0 ||
           code == 0x1680 || (code >= 0x2000 && code <= 0x200A) || code == 0x2028 ||
           code == 0x2029 || code == 0x202F || code == 0x205F || code == 0x3000;
}
bool is_word(std::uint32_t code) { return code < 0x80 ? code >= 'a' && code <= 'z' : code % 2; }

struct Character {
    std::uint32_t code;
    std::size_t start, end;  // bytes
};

std::vector<Character> characters_of(Text text) {
    std::vector<Character> found;
    for (std::size_t i = 0; i < text.size();) {
        const utf8::Char c = utf8::decode(text.begin + i, text.end);
        found.push_back({c.code, i, i + c.size});
        i += c.size;
    }
    return found;
}

// The matches in valid UTF-8; `index` is the place of a byte in characters.
std::vector<AddedTokens::Match> find_slowly(const std::vector<AddedTokens::Token>& tokens,
                                            const std::string& text,
                                            const std::vector<Character>& characters) {
    std::vector<AddedTokens::Match> found;
    std::size_t done = 0;
    const auto before = [&](std::size_t place) {
        return *std::ranges::find(characters, place, &Character::end);
    };
    const auto after = [&](std::size_t place) {
        return *std::ranges::find(characters, place, &Character::start);
    };
    for (std::size_t from = 0; from < text.size();) {
        const AddedTokens::Token* best = nullptr;
        for (const AddedTokens::Token& token : tokens) {
            if (text.compare(from, token.literal.size(), token.literal) != 0) continue;
            if (!best || token.literal.size() > best->literal.size()) best = &token;
        }
        if (!best) {
            from = after(from).end;
            continue;
        }
        std::size_t start = from, end = from + best->literal.size();
        from = end;
        if (best->single_word && ((start > 0 && is_word(before(start).code)) ||
                                  (end < text.size() && is_word(after(end).code))))
            continue;
        while (best->lstrip && start > done && is_space(before(start).code))
            start = before(start).start;
        while (best->rstrip && end < text.size() && is_space(after(end).code)) end = after(end).end;
        found.push_back({start, end, best->id});
        from = std::max(from, end);
        done = end;
    }
    return found;
}

bool same(const std::vector<AddedTokens::Match>& a, const std::vector<AddedTokens::Match>& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return x.start == y.start && x.end == y.end && x.id == y.id;
    });
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 300);
    Random& random = input.random;
    std::string valid;
    for (const Character& c : characters_of(text_of(input.text))) {
        if (c.code != utf8::kInvalid)
            valid.append(input.text.begin() + static_cast<std::ptrdiff_t>(c.start),
                         input.text.begin() + static_cast<std::ptrdiff_t>(c.end));
    }
    const Bytes text = bytes_of(valid);
    const std::vector<Character> characters = characters_of(text_of(text));
    std::vector<AddedTokens::Token> tokens;
    for (std::size_t i = random.below(6); i > 0 && !characters.empty(); --i) {
        const std::size_t first = random.below(characters.size());
        const std::size_t last = std::min(characters.size() - 1, first + random.below(4));
        const std::string literal =
            valid.substr(characters[first].start, characters[last].end - characters[first].start);
        if (std::ranges::find(tokens, literal, &AddedTokens::Token::literal) != tokens.end())
            continue;
        tokens.push_back({literal, static_cast<Id>(10 + i), random.below(3) == 0,
                          random.below(3) == 0, random.below(3) == 0});
    }
    const bool takes_space = std::ranges::any_of(tokens, &AddedTokens::Token::rstrip);
    std::erase_if(tokens, [&](const AddedTokens::Token& token) {
        return takes_space && is_space(characters_of(text_of(bytes_of(token.literal)))[0].code);
    });
    if (tokens.empty()) return 0;
    const AddedTokens added(tokens, random.below(2) == 0, is_word);
    const auto expected = find_slowly(tokens, valid, characters);
    std::vector<AddedTokens::Match> found;
    added.find(text_of(text), found);
    CHECK(same(found, expected));

    // The same places, in characters.
    const Characters string(text_of(text), utf8::kFourBytes);
    auto places = expected;
    const auto index = [&](std::size_t byte) {
        return static_cast<std::size_t>(std::ranges::count_if(
            characters, [&](const Character& character) { return character.end <= byte; }));
    };
    for (AddedTokens::Match& match : places)
        match.start = index(match.start), match.end = index(match.end);
    added.find(string.source(), found);
    CHECK(same(found, places));

    // In invalid UTF-8, matches are in order.
    added.find(text_of(input.text), found);
    std::size_t done = 0;
    for (const AddedTokens::Match& match : found) {
        CHECK(done <= match.start && match.start < match.end && match.end <= input.text.size());
        done = match.end;
    }
    return 0;
}

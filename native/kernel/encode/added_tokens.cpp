#include "encode/added_tokens.hpp"

#include <algorithm>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "split/unicode.hpp"
#include "utf8/decode.hpp"
#include "utf8/encode.hpp"

namespace toksmith {
namespace {

// A character of a text, and its size in bytes of UTF-8 or in characters of a str.
using utf8::Char;

// A text in UTF-8.
struct Utf8Source {
    const std::uint8_t* begin;
    std::size_t size;

    std::size_t next_first(std::size_t from, const std::array<bool, 256>& is_first,
                           int only_first) const {
        if (only_first >= 0) {
            const void* const found =
                from < size ? std::memchr(begin + from, only_first, size - from) : nullptr;
            return found ? static_cast<std::size_t>(static_cast<const std::uint8_t*>(found) - begin)
                         : size;
        }
        while (from < size && !is_first[begin[from]]) ++from;
        return from;
    }
    Id longest(std::size_t from, const ByteTrie& trie, std::size_t& length) const {
        return trie.longest(begin + from, size - from, length);
    }
    Char after(std::size_t place) const { return utf8::decode(begin + place, begin + size); }
    Char before(std::size_t place) const {
        for (std::uint32_t length = 1; length <= utf8::kMostBytes && length <= place; ++length) {
            const Char found = utf8::decode(begin + place - length, begin + place);
            if (found.size == length && found.code != utf8::kInvalid) return found;
        }
        return {utf8::kInvalid, 1};
    }
};

// The characters of a str. A surrogate pair is one character, another surrogate is U+FFFD.
template <typename Unit>
struct StrSource {
    const Unit* begin;
    std::size_t size;

    Char after(std::size_t place) const {
        const std::uint32_t code = begin[place];
        if (place + 1 < size && utf8::is_pair(code, begin[place + 1]))
            return {utf8::code_of_pair(code, begin[place + 1]), 2};
        return {utf8::is_surrogate(code) ? utf8::kReplacement : code, 1};
    }
    Char before(std::size_t place) const {
        if (place > 1 && utf8::is_pair(begin[place - 2], begin[place - 1]))
            return {utf8::code_of_pair(begin[place - 2], begin[place - 1]), 2};
        const std::uint32_t code = begin[place - 1];
        return {utf8::is_surrogate(code) ? utf8::kReplacement : code, 1};
    }
    std::size_t next_first(std::size_t from, const std::array<bool, 256>& is_first, int) const {
        for (; from < size; ++from) {
            const std::uint32_t code = begin[from];
            if (code < 0x80) {
                if (is_first[code]) return from;
                continue;
            }
            if (from > 0 && utf8::is_pair(begin[from - 1], code)) continue;
            std::uint8_t bytes[utf8::kMostBytes];
            utf8::encode(after(from).code, bytes);
            if (is_first[bytes[0]]) return from;
        }
        return from;
    }
    Id longest(std::size_t from, const ByteTrie& trie, std::size_t& length) const {
        Id best = ByteTrie::kNone;
        ByteTrie::Node node = trie.root();
        for (std::size_t place = from; place < size;) {
            const Char character = after(place);
            std::uint8_t bytes[utf8::kMostBytes];
            const std::uint32_t count = utf8::encode(character.code, bytes);
            std::size_t at = 0;
            for (std::uint32_t i = 0; i < count; ++i) {
                if (!trie.step(node, bytes[i], at)) return best;
            }
            place += character.size;
            if (ByteTrie::ends_token(node)) best = trie.token(at), length = place - from;
        }
        return best;
    }
};

bool is_space(const Char& character) {
    return unicode::is_space(unicode::class_of(character.code));
}

std::vector<ByteTrie::Entry> entries(const std::vector<AddedTokens::Token>& tokens) {
    std::vector<ByteTrie::Entry> found;
    for (std::size_t i = 0; i < tokens.size(); ++i)
        found.push_back({tokens[i].literal, static_cast<Id>(i)});
    return found;
}

}  // namespace

AddedTokens::AddedTokens(std::vector<Token> tokens, bool continues, IsWord is_word)
    : tokens_(std::move(tokens)),
      trie_(entries(tokens_)),
      continues_(continues),
      is_word_(std::move(is_word)) {
    const bool takes_space = std::ranges::any_of(tokens_, &Token::rstrip);
    for (const Token& token : tokens_) {
        if (token.literal.empty()) throw std::invalid_argument("an added token is empty");
        const auto* const begin = reinterpret_cast<const std::uint8_t*>(token.literal.data());
        if (takes_space && is_space(utf8::decode(begin, begin + token.literal.size())))
            throw std::invalid_argument("an added token starts with white space");
        is_first_[*begin] = true;
    }
    if (std::ranges::count(is_first_, true) == 1)
        only_first_ = static_cast<int>(std::ranges::find(is_first_, true) - is_first_.begin());
}

template <typename Source>
void AddedTokens::find_in(const Source& source, std::vector<Match>& found) const {
    std::size_t done = 0;
    for (std::size_t from = 0;;) {
        from = source.next_first(from, is_first_, only_first_);
        if (from >= source.size) return;
        std::size_t length = 0;
        const Id which = source.longest(from, trie_, length);
        if (which == ByteTrie::kNone) {
            ++from;
            continue;
        }
        const Token& token = tokens_[which];
        std::size_t start = from, end = from + length;
        from = end;
        if (token.single_word && ((start > 0 && is_word(source.before(start))) ||
                                  (end < source.size && is_word(source.after(end)))))
            continue;
        while (token.lstrip && start > done) {
            const Char space = source.before(start);
            if (!is_space(space) || space.size > start - done) break;
            start -= space.size;
        }
        while (token.rstrip && end < source.size) {
            const Char space = source.after(end);
            if (!is_space(space)) break;
            end += space.size;
        }
        found.push_back({start, end, token.id});
        done = end;
    }
}

bool AddedTokens::is_word(const Char& character) const {
    return character.code != utf8::kInvalid && is_word_(character.code);
}

void AddedTokens::find(const InputText& text, std::vector<Match>& found) const {
    found.clear();
    if (text.is_utf8()) {
        find_in(Utf8Source{text.utf8().begin, text.size()}, found);
        return;
    }
    text.with_units([&]<typename Unit>(const Unit* units, std::size_t size) {
        find_in(StrSource<Unit>{units, size}, found);
    });
}

}  // namespace toksmith

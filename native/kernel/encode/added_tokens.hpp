// Finds the literals of added tokens in a text: leftmost first, and the longest of those.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "encode/input_text.hpp"
#include "utf8/decode.hpp"
#include "vocab/byte_trie.hpp"

namespace toksmith {

class AddedTokens {
 public:
    struct Token {
        std::string literal;  // UTF-8, not empty
        Id id;
        bool single_word;  // matches only without a word character next to it
        bool lstrip;       // white space before it belongs to it
        bool rstrip;       // white space after it belongs to it
    };
    // Whether a code point is a word character. Called for tokens with `single_word` only.
    using IsWord = std::function<bool(std::uint32_t)>;

    // `continues`: the text after a token continues its document; otherwise it starts one. Throws
    // std::invalid_argument if a token may start with white space that another one takes.
    AddedTokens(std::vector<Token> tokens, bool continues, IsWord is_word);

    // A match, in bytes of UTF-8 or in characters of a str.
    struct Match {
        std::size_t start, end;
        Id id;
    };
    // Replaces `found` with the matches in a text, in order, without overlaps.
    void find(const InputText& text, std::vector<Match>& found) const;

    bool continues() const { return continues_; }

 private:
    template <typename Source>
    void find_in(const Source& source, std::vector<Match>& found) const;
    bool is_word(const utf8::Char& character) const;

    std::vector<Token> tokens_;
    ByteTrie trie_;                     // its ids are indices of `tokens_`
    std::array<bool, 256> is_first_{};  // by byte: a literal starts with it
    int only_first_ = -1;               // that byte, if there is one only
    bool continues_;
    IsWord is_word_;
};

}  // namespace toksmith

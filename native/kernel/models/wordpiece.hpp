// Longest match first, from left to right, in one pass: WordPiece, and longest match over whole
// chunks.
//
// Trying the longest token and then shorter ones reads the same characters repeatedly. Here each
// node of the trie has a failure link: the tokens with which its characters certainly start, and
// the node of the remaining characters ("Fast WordPiece Tokenization", Song et al. 2021). Each
// character is read once, so the time is linear for any text and vocabulary.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "models/model.hpp"
#include "utf8/decode.hpp"
#include "vocab/byte_trie.hpp"
#include "vocab/token_index.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::wordpiece {

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;  // no node, or no id

struct Options {
    // The prefix of tokens that are not the first of their chunk.
    std::string prefix{};
    // kNone: unknown characters are dropped.
    Id unk = kNone;
    // Whether a chunk that cannot be matched, or has too many characters, is unknown as a whole.
    // Otherwise single characters are unknown, and no text matches the unknown token itself.
    bool whole_unknown = false;
    std::size_t max_characters = ~std::size_t{0};
    // Whether adjacent unknown characters become one token.
    bool fuse_unk = false;
};

class LongestMatchModel final : public Model {
 public:
    LongestMatchModel(const Vocabulary& vocabulary, Options options);

    std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, IdArray& out,
                      IdArray* spans) const override;

 private:
    // A list of tokens, identified by its last element. Lists share their beginnings.
    struct Token {
        std::uint32_t before;  // the preceding list; 0: the empty list
        std::uint32_t count;   // length of the list
        std::uint32_t end;     // bytes that the list covers
        Id id;
    };
    // A failure link, taken if no child matches: the tokens that the characters of the node become,
    // and the node of the remaining characters.
    struct Link {
        std::uint32_t rest;  // kNone: the text cannot be matched
        std::uint32_t tokens;
    };
    // A text of one of the tries, and the id of its token, or kNone.
    struct Text {
        std::string bytes;  // starts with the first byte of its trie
        Id id;
    };
    // A node at which a character ends.
    struct State {
        std::size_t place;
        ByteTrie::Node node;
    };

    std::vector<Text> texts_of(const Vocabulary& vocabulary) const;
    void link_all(const std::vector<Text>& texts);
    Link link(std::size_t parent, const std::uint8_t* p, utf8::Char c);
    std::uint32_t extended(std::uint32_t list, Id id, std::size_t bytes);
    std::uint32_t joined(std::uint32_t list, std::uint32_t more);

    State at(std::size_t place) const { return {place, trie_.at(place)}; }
    // Moves to the node of the next character. Returns false if there is none.
    bool step(State& state, const std::uint8_t* p, utf8::Char c) const;
    bool match(const std::uint8_t* chunk, std::size_t size, IdArray& out, IdArray* spans) const;
    std::size_t append(std::uint32_t list, std::size_t start, IdArray& out, IdArray* spans) const;
    void tidy(IdArray& out, std::size_t first, IdArray* spans, std::size_t first_span) const;

    Options options_;
    ByteTrie trie_{std::vector<ByteTrie::Entry>{}};
    // The places of the roots: for the first token of a chunk, and for the others.
    std::size_t start_ = 0, inside_ = 0;
    std::vector<Link> links_;    // by place of a node at which a character ends
    std::vector<Token> tokens_;  // all lists
};

// Each chunk is one token, known or unknown.
class WordLevelModel final : public Model {
 public:
    WordLevelModel(Vocabulary vocabulary, Id unk)
        : vocabulary_(std::move(vocabulary)), index_(vocabulary_), unk_(unk) {}

    std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, IdArray& out,
                      IdArray* spans) const override;

 private:
    Vocabulary vocabulary_;
    TokenIndex index_;
    Id unk_;
};

}  // namespace toksmith::wordpiece

// Longest match first, from left to right, in one pass: WordPiece, and the longest match over whole
// chunks.
//
// Trying the longest token, then shorter ones, reads the same characters again and again. Here each
// node of the trie has a failure link: the tokens that its characters surely start with, and the
// node of the rest ("Fast WordPiece Tokenization", Song et al. 2021). Each character is read once,
// so time is linear for any text and vocabulary.
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

inline constexpr std::uint32_t kNone = 0xFFFFFFFFu;  // no such node, or no such id

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
    // A list of tokens, named by its last one. Lists share their beginnings.
    struct Token {
        std::uint32_t before;  // the list without this token; 0: the empty list
        std::uint32_t count;   // tokens in the list
        std::uint32_t end;     // bytes that they cover
        Id id;
    };
    // A failure link: the tokens that the characters of a node become if no child matches, and the
    // node of the rest.
    struct Link {
        std::uint32_t rest;  // kNone: the text cannot be matched
        std::uint32_t tokens;
    };
    // A text of one of the trees, and the token that it is; kNone: none.
    struct Text {
        std::string bytes;  // the tree's lead first
        Id id;
    };
    // A node between two characters.
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
    // Moves on by one character, if the trie has it.
    bool step(State& state, const std::uint8_t* p, utf8::Char c) const;
    bool match(const std::uint8_t* chunk, std::size_t size, IdArray& out, IdArray* spans) const;
    std::size_t append(std::uint32_t list, std::size_t start, IdArray& out, IdArray* spans) const;
    void tidy(IdArray& out, std::size_t first, IdArray* spans, std::size_t first_span) const;

    Options options_;
    ByteTrie trie_{std::vector<ByteTrie::Entry>{}};
    std::size_t start_ = 0,
                inside_ = 0;     // places of the roots: of a chunk's first token; of others
    std::vector<Link> links_;    // by place of a node between two characters
    std::vector<Token> tokens_;  // all lists
};

// Each chunk is a token, or unknown.
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

// The longest token first, from left to right, in one pass: WordPiece, and the longest match over
// whole chunks.
//
// Trying the longest token, then shorter ones, goes over the same characters again and again. Here
// each node of the trie knows what becomes of its characters if none follows that the trie has: the
// tokens they surely start with, and the node of what is left ("Fast WordPiece Tokenization", Song
// et al. 2021). So each character is looked at once, and the time is linear whatever the text and
// the vocabulary.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bpe/token_index.hpp"
#include "bpe/vocabulary.hpp"
#include "encode/model.hpp"
#include "wordpiece/trie.hpp"

namespace toksmith::wordpiece {

struct Options {
    // Tokens after the first one of a chunk are those that start with this.
    std::string prefix{};
    // kNone: what is unknown becomes nothing.
    Id unk = kNone;
    // Whether a chunk that does not come out, or has too many characters, is unknown as a whole;
    // else single characters are, and no text stands for the unknown token.
    bool whole_unknown = false;
    std::size_t max_characters = ~std::size_t{0};
    // Unknown characters that stand side by side are one token.
    bool fuse_unk = false;
};

class LongestMatchModel final : public Model {
 public:
    LongestMatchModel(const bpe::Vocabulary& vocabulary, Options options);

    std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, Ids& out,
                      Ids* spans) const override;

 private:
    // A list of tokens, told by its last one. Lists share their beginnings.
    struct Token {
        std::uint32_t before;  // the list without this token; 0 is the empty list
        std::uint32_t count;   // how many tokens the list has
        std::uint32_t end;     // how many bytes they cover
        Id id;
    };
    // What the characters of a node become if they do not go on: tokens, and a node for the rest.
    struct Link {
        Node rest;  // kNone: nothing fits
        std::uint32_t tokens;
    };

    Trie trie(const bpe::Vocabulary& vocabulary) const;
    void link_all(const bpe::Vocabulary& vocabulary);
    Link link(Node parent, Node node);
    std::uint32_t extended(std::uint32_t list, Id id, std::size_t bytes);
    std::uint32_t joined(std::uint32_t list, std::uint32_t more);

    bool match(const std::uint8_t* chunk, std::size_t size, Ids& out, Ids* spans) const;
    std::size_t append(std::uint32_t list, std::size_t start, Ids& out, Ids* spans) const;
    void tidy(Ids& out, std::size_t first, Ids* spans, std::size_t first_span) const;

    Options options_;
    Node inside_;  // the root of what does not start a chunk
    Trie trie_;
    std::vector<Link> links_;    // one a node
    std::vector<Token> tokens_;  // all lists
};

// Each chunk is a token as it stands, or unknown.
class WordLevelModel final : public Model {
 public:
    WordLevelModel(bpe::Vocabulary vocabulary, Id unk)
        : vocabulary_(std::move(vocabulary)), index_(vocabulary_), unk_(unk) {}

    std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch, Ids& out,
                      Ids* spans) const override;

 private:
    bpe::Vocabulary vocabulary_;
    bpe::TokenIndex index_;
    Id unk_;
};

}  // namespace toksmith::wordpiece

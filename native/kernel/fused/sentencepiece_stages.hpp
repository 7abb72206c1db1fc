// SentencePiece's normalizer in front of its models: the tables and the rules that FusedModel needs
// to run it, without a call of Python.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "fused/model.hpp"
#include "text/character_map.hpp"
#include "vocab/byte_trie.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::sentencepiece {

struct NormalizerOptions {
    bool add_dummy_prefix = true;
    bool remove_extra_whitespaces = true;  // needs the other two
    bool escape_whitespaces = true;
};

class Normalizer {
 public:
    // `protected_symbols`: strings that the normalizer leaves as they are, except for spaces.
    Normalizer(std::shared_ptr<const CharacterMap> map,
               const std::vector<std::string>& protected_symbols, NormalizerOptions options);

    // Appends the normalized form of a chunk, which is not the start of its text. Spaces at its end
    // are dropped if extra spaces are.
    void append(const std::uint8_t* chunk, std::size_t size, std::vector<std::uint8_t>& out) const;

    // Appends the normalized form of one character, which its neighbours do not change.
    void append_single(std::uint32_t code, std::vector<std::uint8_t>& out) const;
    // Whether the normalized form of a character may depend on its neighbours.
    bool is_context_sensitive(std::uint32_t code) const;
    // Whether no character of a range changes or depends on its neighbours.
    bool leaves(std::uint32_t first, std::uint32_t end) const;

    const NormalizerOptions& options() const { return options_; }
    const CharacterMap& map() const { return *map_; }

 private:
    bool starts(std::uint32_t code) const { return starts_[code / 64] >> code % 64 & 1; }
    // The symbol, key or character at p: its size, and what replaces it.
    CharacterMap::Match at(const std::uint8_t* p, const std::uint8_t* end) const;
    std::string_view space() const;

    std::shared_ptr<const CharacterMap> map_;
    ByteTrie protected_;
    NormalizerOptions options_;
    // Whether a symbol or a key may start with a character, or it is a space, by code point.
    std::vector<std::uint64_t> starts_;
    std::vector<std::uint32_t> sensitive_;  // ascending
    std::vector<std::uint32_t> seen_;  // all characters that change or are sensitive; ascending
};

// Returns null if the model's pieces cannot be matched character by character, or a space does not
// stay a space: then the stages have to run one by one. `fuses_unknown`: adjacent unknown
// characters become one token.
std::shared_ptr<FusedModel> fuse(std::shared_ptr<const Model> model, const Vocabulary& vocabulary,
                                 const std::vector<std::uint8_t>& types, bool fuses_unknown,
                                 std::shared_ptr<const Normalizer> normalizer,
                                 decltype(Stages::locate_stages) locate_stages);

}  // namespace toksmith::sentencepiece

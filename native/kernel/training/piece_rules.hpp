// SentencePiece's rules for valid pieces. Whether the concatenation of two pieces is valid follows
// from properties of the two.
#pragma once

#include <cstdint>

namespace toksmith::bpe {

// The properties of a piece on which the rules depend. Those of a concatenation follow from those
// of its two halves, whichever they are.
struct PieceTraits {
    // Scripts are numbered from kScripts on. `first` and `last` are the scripts of the first and
    // last character that is neither white space nor inherits the script of the character before.
    enum : std::uint16_t { kNoScript = 0, kAnyScript = 1, kScripts = 2 };

    std::uint16_t first = kNoScript;
    std::uint16_t last = kNoScript;
    std::uint16_t length = 1;  // in characters
    std::uint16_t spaces = 0;  // how many of these are ▁
    bool starts_with_space = false;
    bool ends_with_space = false;
    bool has_digit = false;
};

inline PieceTraits joined(const PieceTraits& left, const PieceTraits& right) {
    return {
        .first = left.first == PieceTraits::kNoScript ? right.first : left.first,
        .last = right.last == PieceTraits::kNoScript ? left.last : right.last,
        .length = static_cast<std::uint16_t>(left.length + right.length),
        .spaces = static_cast<std::uint16_t>(left.spaces + right.spaces),
        .starts_with_space = left.starts_with_space,
        .ends_with_space = right.ends_with_space,
        .has_digit = left.has_digit || right.has_digit,
    };
}

struct PieceRules {
    std::size_t longest = 16;  // in characters; below 2^15
    bool split_by_script = true;
    bool split_by_space = true;
    bool split_digits = false;
    bool space_as_suffix = false;
    bool only_spaces = false;  // pieces may consist of spaces only

    // Whether no piece can contain both the last character of `left` and the first one of `right`.
    bool apart(const PieceTraits& left, const PieceTraits& right) const {
        if (split_digits && (left.has_digit || right.has_digit)) return true;
        return split_by_script && left.last >= PieceTraits::kScripts &&
               right.first >= PieceTraits::kScripts && left.last != right.first;
    }

    // Whether the concatenation of two pieces, each valid or a single character, is valid.
    bool allow(const PieceTraits& left, const PieceTraits& right) const {
        if (std::size_t{left.length} + right.length > longest) return false;
        if (apart(left, right)) return false;
        return left.spaces + right.spaces == 0 || allow_spaces(joined(left, right));
    }

 private:
    bool allow_spaces(const PieceTraits& piece) const {
        if (only_spaces && piece.spaces == piece.length) return true;
        const bool at_its_end = space_as_suffix ? piece.ends_with_space : piece.starts_with_space;
        if (split_by_space) return piece.spaces == (at_its_end ? 1 : 0);
        return !(space_as_suffix ? piece.starts_with_space : piece.ends_with_space);
    }
};

}  // namespace toksmith::bpe

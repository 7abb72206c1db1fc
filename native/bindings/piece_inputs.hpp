// Checks the counted words, the alphabets and the rules that trainings of pieces are given.
#pragma once

#include <nanobind/nanobind.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "buffers.hpp"
#include "gil.hpp"
#include "training/piece_rules.hpp"
#include "training/training.hpp"

namespace toksmith::bindings {

using Ends = Input<std::uint64_t>;
using Counts = Input<std::uint64_t>;

template <typename Symbol>
bpe::Counted<Symbol> counted(const Symbol* symbols, std::size_t size, const Ends& ends,
                             const Counts& counts) {
    const WithoutGil without_gil;
    bpe::Counted<Symbol> result;
    result.symbols = symbols;
    result.ends = {ends.data(), ends.size()};
    result.counts = {counts.data(), counts.size()};
    std::uint64_t before = 0;
    for (const std::uint64_t end : result.ends) {
        if (end < before || end > size)
            throw nb::value_error("chunk ends must ascend and lie inside the chunks");
        before = end;
    }
    if (result.counts.size() != result.ends.size()) {
        throw nb::value_error("counts needs one count per chunk");
    }
    return result;
}

inline bpe::CountedSymbols counted(const Input<Id>& symbols, const Ends& ends, const Counts& counts,
                                   std::size_t alphabet) {
    {
        const WithoutGil without_gil;
        if (std::any_of(symbols.data(), symbols.data() + symbols.size(),
                        [&](Id symbol) { return symbol >= alphabet; })) {
            throw nb::value_error("a symbol is not in the alphabet");
        }
    }
    return counted(symbols.data(), symbols.size(), ends, counts);
}

// The bits of the kind of a character.
inline constexpr std::uint8_t kSpace = 1, kDigit = 2;

inline std::vector<bpe::PieceTraits> piece_alphabet(const Input<std::uint16_t>& scripts,
                                                    const Input<std::uint8_t>& kinds) {
    if (kinds.size() != scripts.size()) throw nb::value_error("kinds needs one kind per script");
    std::vector<bpe::PieceTraits> alphabet;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const bool space = kinds(i) & kSpace;
        alphabet.push_back({.first = scripts(i),
                            .last = scripts(i),
                            .spaces = space,
                            .starts_with_space = space,
                            .ends_with_space = space,
                            .has_digit = (kinds(i) & kDigit) != 0});
    }
    return alphabet;
}

inline bpe::PieceRules piece_rules(std::size_t longest, bool split_by_script, bool split_by_space,
                                   bool split_digits, bool space_as_suffix, bool only_spaces) {
    if (longest >= (1u << 15)) throw nb::value_error("longest must be below 32,768 characters");
    return {longest, split_by_script, split_by_space, split_digits, space_as_suffix, only_spaces};
}

}  // namespace toksmith::bindings

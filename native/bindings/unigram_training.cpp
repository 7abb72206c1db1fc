// Binds the training of Unigram pieces.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>

#include "buffers.hpp"
#include "gil.hpp"
#include "training/unigram/trainer.hpp"

namespace toksmith::bindings {
namespace {

constexpr std::uint8_t kSpace = 1, kDigit = 2;

bpe::CountedSymbols counted(const Input<Id>& symbols, const Input<std::uint64_t>& ends,
                            const Input<std::uint64_t>& counts, std::size_t alphabet) {
    if (counts.size() != ends.size()) throw nb::value_error("counts needs one count per word");
    const WithoutGil without_gil;
    std::uint64_t before = 0;
    for (std::size_t word = 0; word < ends.size(); ++word) {
        if (ends(word) < before || ends(word) > symbols.size()) {
            throw nb::value_error("word ends must ascend and lie inside the symbols");
        }
        before = ends(word);
    }
    if (std::any_of(symbols.data(), symbols.data() + symbols.size(),
                    [&](Id symbol) { return symbol >= alphabet; })) {
        throw nb::value_error("a symbol is not in the alphabet");
    }
    return {symbols.data(), {ends.data(), ends.size()}, {counts.data(), counts.size()}};
}

std::vector<bpe::PieceTraits> alphabet(const Input<std::uint16_t>& scripts,
                                       const Input<std::uint8_t>& kinds) {
    if (kinds.size() != scripts.size()) throw nb::value_error("kinds needs one kind per script");
    std::vector<bpe::PieceTraits> result;
    for (std::size_t i = 0; i < scripts.size(); ++i) {
        const bool space = kinds(i) & kSpace;
        result.push_back({.first = scripts(i),
                          .last = scripts(i),
                          .spaces = space,
                          .starts_with_space = space,
                          .ends_with_space = space,
                          .has_digit = (kinds(i) & kDigit) != 0});
    }
    return result;
}

// The characters of all pieces, concatenated; the length of each piece; its score.
using Trained = std::tuple<Array<Id>, Array<std::uint32_t>, Array<double>>;

Trained train_unigram(Input<Id> symbols, Input<std::uint64_t> ends, Input<std::uint64_t> counts,
                      Input<std::uint16_t> scripts, Input<std::uint8_t> kinds, std::size_t longest,
                      bool split_by_script, bool split_by_space, bool split_digits,
                      bool space_as_suffix, bool only_spaces, std::size_t seeds, std::size_t enough,
                      double shrinking_factor, std::size_t sub_iterations, std::size_t threads,
                      nb::object watch) {
    const bpe::CountedSymbols given = counted(symbols, ends, counts, scripts.size());
    const std::vector<bpe::PieceTraits> characters = alphabet(scripts, kinds);
    const unigram::TrainingOptions options{
        seeds,
        enough,
        shrinking_factor,
        sub_iterations,
        threads,
        {longest, split_by_script, split_by_space, split_digits, space_as_suffix, only_spaces}};

    const auto tell = [&](const unigram::Progress& progress) {
        if (watch.is_none()) return;
        const WithGil gil;
        watch(progress.rounds, progress.pieces, progress.log_likelihood);
    };
    unigram::Pieces learned;
    {
        const WithoutGil without_gil;
        learned =
            unigram::train(unigram::cut_words(given, characters, options.rules), options, tell);
    }
    std::vector<std::uint32_t> spelled, lengths;
    std::vector<double> scores;
    for (const unigram::Piece& piece : learned.pieces) {
        for (std::uint32_t i = 0; i < piece.length; ++i) {
            spelled.push_back(learned.text[piece.place + i] - 1);
        }
        lengths.push_back(piece.length);
        scores.push_back(piece.score);
    }
    return {to_numpy(std::move(spelled)), to_numpy(std::move(lengths)),
            to_numpy(std::move(scores))};
}

}  // namespace

void bind_unigram_training(nb::module_& module) {
    using namespace nb::literals;

    module.def("train_unigram", &train_unigram, "symbols"_a, "ends"_a, "counts"_a, "scripts"_a,
               "kinds"_a, "longest"_a, "split_by_script"_a, "split_by_space"_a, "split_digits"_a,
               "space_as_suffix"_a, "only_spaces"_a, "seeds"_a, "enough"_a, "shrinking_factor"_a,
               "sub_iterations"_a, "threads"_a, "watch"_a.none());
}

}  // namespace toksmith::bindings

// Binds the training of Unigram pieces.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>

#include <chrono>
#include <optional>

#include "buffers.hpp"
#include "gil.hpp"
#include "piece_inputs.hpp"
#include "training/unigram/trainer.hpp"

namespace toksmith::bindings {
namespace {

void add(unigram::WordStore& words, const Input<Id>& symbols, const Ends& ends,
         const Counts& counts) {
    const auto given = counted(symbols, ends, counts, words.alphabet().size());
    const WithoutGil without_gil;
    words.add(given);
}

void finish(unigram::WordStore& words) {
    const WithoutGil without_gil;
    words.finish();
}

// The characters of all pieces, concatenated; the length of each piece; its score.
using Trained = std::tuple<Array<Id>, Array<std::uint32_t>, Array<double>>;

// Converts the pieces from number `first` on.
Trained to_python(const std::vector<std::uint32_t>& text, const std::vector<unigram::Piece>& pieces,
                  std::size_t first) {
    std::vector<std::uint32_t> spelled, lengths;
    std::vector<double> scores;
    for (std::size_t i = first; i < pieces.size(); ++i) {
        const unigram::Piece& piece = pieces[i];
        for (std::uint32_t k = 0; k < piece.length; ++k) {
            spelled.push_back(text[piece.place + k] - 1);
        }
        lengths.push_back(piece.length);
        scores.push_back(piece.score);
    }
    return {to_numpy(std::move(spelled)), to_numpy(std::move(lengths)),
            to_numpy(std::move(scores))};
}

// The rounds so far; then as in Trained.
using Start = std::tuple<std::size_t, Input<Id>, Input<std::uint32_t>, Input<double>>;

unigram::State state_of(const Start& start, std::size_t alphabet, std::size_t longest) {
    const auto& [rounds, symbols, lengths, scores] = start;
    unigram::State state{rounds, {}};
    if (scores.size() != lengths.size()) throw nb::value_error("scores needs one score per length");
    std::uint64_t place = 0;
    for (std::size_t i = 0; i < lengths.size(); ++i) {
        if (lengths(i) == 0 || place + lengths(i) > symbols.size()) {
            throw nb::value_error("the lengths must add up to the number of symbols");
        }
        state.pieces.pieces.push_back({static_cast<std::uint32_t>(place), lengths(i), scores(i)});
        if (lengths(i) > longest) throw nb::value_error("a piece is too long");
        place += lengths(i);
    }
    if (place != symbols.size()) {
        throw nb::value_error("the lengths must add up to the number of symbols");
    }
    for (std::size_t i = 0; i < symbols.size(); ++i) {
        if (symbols(i) >= alphabet) throw nb::value_error("a symbol is not in the alphabet");
        state.pieces.text.push_back(symbols(i) + 1);
    }
    return state;
}

Trained train(unigram::WordStore& words, std::size_t seeds, std::size_t enough,
              double shrinking_factor, std::size_t sub_iterations, nb::object watch,
              nb::object keep, double keep_seconds, std::optional<Start> start) {
    using Clock = std::chrono::steady_clock;
    std::optional<unigram::State> state;
    if (start) {
        state = state_of(*start, words.alphabet().size(), words.options().rules.longest);
    }
    start.reset();
    const auto tell = [&](const unigram::Progress& progress) {
        if (watch.is_none()) return;
        const WithGil gil;
        watch(progress.rounds, progress.pieces, progress.log_likelihood);
    };
    auto kept = Clock::now();
    const auto hand_over = [&](std::size_t rounds, const std::vector<std::uint32_t>& spelled,
                               const std::vector<unigram::Piece>& pieces) {
        if (keep.is_none()) return;
        if (std::chrono::duration<double>(Clock::now() - kept).count() < keep_seconds) return;
        const WithGil gil;
        keep(rounds, to_python(spelled, pieces, 1));
        kept = Clock::now();
    };
    unigram::Pieces learned;
    {
        const WithoutGil without_gil;
        learned = unigram::train(words, {seeds, enough, shrinking_factor, sub_iterations},
                                 state ? &*state : nullptr, tell, hand_over);
    }
    return to_python(learned.text, learned.pieces, 0);
}

}  // namespace

void bind_unigram_training(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<unigram::WordStore>(module, "UnigramWords")
        .def(
            "__init__",
            [](unigram::WordStore* self, Input<std::uint16_t> scripts, Input<std::uint8_t> kinds,
               std::size_t longest, bool split_by_script, bool split_by_space, bool split_digits,
               bool space_as_suffix, bool only_spaces, std::size_t threads, std::size_t memory,
               int descriptor, std::optional<std::uint64_t> space, bool has_pieces) {
                const auto rules = piece_rules(longest, split_by_script, split_by_space,
                                               split_digits, space_as_suffix, only_spaces);
                new (self) unigram::WordStore(piece_alphabet(scripts, kinds),
                                              {rules, threads, memory, descriptor,
                                               space.value_or(~std::uint64_t{0}), has_pieces});
            },
            "scripts"_a, "kinds"_a, "longest"_a, "split_by_script"_a, "split_by_space"_a,
            "split_digits"_a, "space_as_suffix"_a, "only_spaces"_a, "threads"_a, "memory"_a,
            "descriptor"_a, "space"_a.none(), "has_pieces"_a)
        .def("add", &add, "symbols"_a, "ends"_a, "counts"_a)
        .def("finish", &finish)
        .def_prop_ro("substrings", &unigram::WordStore::substrings)
        .def_prop_ro("spilled", &unigram::WordStore::spilled)
        .def("train", &train, "seeds"_a, "enough"_a, "shrinking_factor"_a, "sub_iterations"_a,
             "watch"_a.none(), "keep"_a.none(), "keep_seconds"_a, "start"_a.none());
    module.def("unigram_memory", &unigram::least_memory, "pieces"_a);
}

}  // namespace toksmith::bindings

// Binds training by merging.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <chrono>

#include "buffers.hpp"
#include "gil.hpp"
#include "piece_inputs.hpp"
#include "training/bpe/trainer.hpp"

namespace toksmith::bindings {
namespace {

bpe::TrainingOptions training_options(std::size_t tokens, const std::string& ties,
                                      std::uint64_t min_frequency, std::size_t max_token_length,
                                      std::size_t threads) {
    bpe::TrainingOptions options;
    options.sharing.threads = threads;
    options.tokens = tokens;
    options.min_frequency = min_frequency;
    options.max_token_length = max_token_length;
    if (ties == "smallest-pair") {
        options.ties = bpe::Ties::kSmallestPair;
    } else if (ties != "first-seen") {
        throw nb::value_error("ties must be \"first-seen\" or \"smallest-pair\"");
    }
    return options;
}

void add_bytes(bpe::ChunkStore& store, nb::bytes chunks, const Ends& ends, const Counts& counts) {
    const auto given =
        counted(reinterpret_cast<const std::uint8_t*>(chunks.c_str()), chunks.size(), ends, counts);
    const WithoutGil without_gil;
    store.add(given);
}

void add_symbols(bpe::ChunkStore& store, const Input<Id>& symbols, const Ends& ends,
                 const Counts& counts, std::size_t alphabet) {
    const auto given = counted(symbols, ends, counts, alphabet);
    const WithoutGil without_gil;
    store.add(given);
}

// The merges, flat; the count of each merge; the number of tokens of the text after each merge.
using Trained = std::tuple<Array<Id>, Array<std::uint64_t>, Array<std::uint64_t>>;

// The part of a result from merge `start` on.
Trained since(const bpe::Training& training, std::size_t start) {
    IdArray flat;
    for (std::size_t i = start; i < training.merges.size(); ++i) {
        const bpe::MergeRule& merge = training.merges[i];
        for (const Id id : {merge.left, merge.right, merge.id}) flat.push(id);
    }
    const auto rest = [&](const std::vector<std::uint64_t>& all) {
        return to_numpy(std::vector<std::uint64_t>(all.begin() + static_cast<std::ptrdiff_t>(start),
                                                   all.end()));
    };
    return {to_numpy(std::move(flat)), rest(training.counts), rest(training.tokens)};
}

// Runs a training without the GIL. `watch`, unless None, is called a few times a second with the
// merges since its last call, and at the end with the rest. `keep` is called likewise every
// `keep_seconds` seconds, and when Ctrl-C ends the training.
template <typename Train>
Trained trained(const nb::object& watch, Train train, const nb::object& keep = nb::none(),
                double keep_seconds = 0) {
    using Clock = std::chrono::steady_clock;
    auto heard = Clock::now(), kept = heard;
    std::size_t done = 0, watched = 0;
    const auto show = [&](const bpe::Training& so_far) {
        if (watch.is_none() || so_far.merges.size() == watched) return;
        watch(since(so_far, watched));
        watched = so_far.merges.size();
    };
    const auto hand_over = [&](const bpe::Training& so_far) {
        if (keep.is_none()) return;
        keep(since(so_far, done));
        done = so_far.merges.size();
        kept = Clock::now();
    };
    const auto tell = [&](const bpe::Training& so_far) {
        const auto now = Clock::now();
        if (Stop::current()->requested()) {
            const WithGil gil;
            hand_over(so_far);
            return false;
        }
        if (now - heard < Stop::kInterval) return true;
        const WithGil gil;
        try {
            show(so_far);
        } catch (nb::python_error&) {  // for example a KeyboardInterrupt in `watch`
            hand_over(so_far);
            throw;
        }
        if (std::chrono::duration<double>(now - kept).count() >= keep_seconds) hand_over(so_far);
        heard = Clock::now();
        return true;
    };
    bpe::Training training;
    {
        const WithoutGil without_gil;
        training = train(tell);
    }
    show(training);
    return since(training, 0);
}

Trained train_store(bpe::ChunkStore& store, std::size_t alphabet, std::size_t tokens,
                    const std::string& ties, std::uint64_t min_frequency,
                    std::size_t max_token_length, std::size_t threads, nb::object watch,
                    Input<std::uint32_t> places, Input<std::uint32_t> lengths, nb::object keep,
                    double keep_seconds, std::size_t memory) {
    const auto options = training_options(tokens, ties, min_frequency, max_token_length, threads);
    const bpe::Alphabet known{alphabet,
                              {places.data(), places.data() + places.size()},
                              {lengths.data(), lengths.data() + lengths.size()}};
    return trained(
        watch,
        [&](const bpe::Watch& tell) { return bpe::train(store, known, options, memory, tell); },
        keep, keep_seconds);
}

Trained train_store_likelihood(bpe::ChunkStore& store, std::size_t alphabet, std::size_t tokens,
                               std::uint64_t min_frequency, std::size_t threads, nb::object watch,
                               std::size_t memory) {
    return trained(watch, [&](const bpe::Watch& tell) {
        return bpe::train_likelihood(store, alphabet, tokens, min_frequency, {.threads = threads},
                                     memory, tell);
    });
}

Trained train_pieces(Input<Id> symbols, Ends ends, Counts counts, Input<std::uint16_t> scripts,
                     Input<std::uint8_t> kinds, std::size_t tokens, std::size_t longest,
                     bool split_by_script, bool split_by_space, bool split_digits,
                     bool space_as_suffix, bool only_spaces, std::size_t cut, std::size_t threads,
                     nb::object watch) {
    if (cut > ends.size()) throw nb::value_error("cut must be at most the number of words");
    const auto alphabet = piece_alphabet(scripts, kinds);
    const auto given = counted(symbols, ends, counts, alphabet.size());
    const auto rules = piece_rules(longest, split_by_script, split_by_space, split_digits,
                                   space_as_suffix, only_spaces);
    return trained(watch, [&](const bpe::Watch& tell) {
        return bpe::train_pieces(given, cut, alphabet, rules, tokens, {.threads = threads}, tell);
    });
}

Trained train_store_pieces(bpe::ChunkStore& store, Input<std::uint16_t> scripts,
                           Input<std::uint8_t> kinds, std::size_t tokens, std::size_t longest,
                           bool split_by_script, bool split_by_space, bool split_digits,
                           bool space_as_suffix, bool only_spaces, std::size_t threads,
                           nb::object watch, std::size_t memory) {
    const auto alphabet = piece_alphabet(scripts, kinds);
    const auto rules = piece_rules(longest, split_by_script, split_by_space, split_digits,
                                   space_as_suffix, only_spaces);
    return trained(watch, [&](const bpe::Watch& tell) {
        return bpe::train_pieces(store, alphabet, rules, tokens, {.threads = threads}, memory,
                                 tell);
    });
}

}  // namespace

void bind_train(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<bpe::ChunkStore>(module, "ChunkStore")
        .def(nb::init<std::size_t, int>(), "memory"_a, "descriptor"_a)
        .def("add_bytes", &add_bytes, "chunks"_a, "ends"_a, "counts"_a)
        .def("add_symbols", &add_symbols, "symbols"_a, "ends"_a, "counts"_a, "alphabet"_a);

    module.def("train_store", &train_store, "store"_a, "alphabet"_a, "tokens"_a, "ties"_a,
               "min_frequency"_a, "max_token_length"_a, "threads"_a, "watch"_a.none(), "places"_a,
               "lengths"_a, "keep"_a.none(), "keep_seconds"_a, "memory"_a);
    module.def("train_store_pieces", &train_store_pieces, "store"_a, "scripts"_a, "kinds"_a,
               "tokens"_a, "longest"_a, "split_by_script"_a, "split_by_space"_a, "split_digits"_a,
               "space_as_suffix"_a, "only_spaces"_a, "threads"_a, "watch"_a.none(), "memory"_a);
    module.def("train_store_likelihood", &train_store_likelihood, "store"_a, "alphabet"_a,
               "tokens"_a, "min_frequency"_a, "threads"_a, "watch"_a.none(), "memory"_a);
    module.def("train_pieces", &train_pieces, "symbols"_a, "ends"_a, "counts"_a, "scripts"_a,
               "kinds"_a, "tokens"_a, "longest"_a, "split_by_script"_a, "split_by_space"_a,
               "split_digits"_a, "space_as_suffix"_a, "only_spaces"_a, "cut"_a, "threads"_a,
               "watch"_a.none());
}

}  // namespace toksmith::bindings

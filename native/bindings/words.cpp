// Words of counted chunks.

#include <nanobind/nanobind.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <array>

#include "counted.hpp"
#include "train/plain_words.hpp"

namespace toksmith::bindings {
namespace {

using Ends = Input<std::uint64_t>;
using Counts = Input<std::uint64_t>;

void check(const Ends& ends, const Counts& counts, std::size_t size, const char* what) {
    if (counts.size() != ends.size()) throw nb::value_error("as many counts as chunks, please");
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends(i) < before || ends(i) > size) throw nb::value_error(what);
        before = ends(i);
    }
}

// (whether each chunk is plain, the words of those that are)
using Found =
    std::tuple<Array<std::uint8_t>, nb::bytes, Array<std::uint64_t>, Array<std::uint64_t>>;

template <typename Rules>
Found found(const nb::bytes& chunks, const Ends& ends, const Counts& counts, const Rules& rules,
            std::size_t threads) {
    check(ends, counts, chunks.size(), "chunk ends out of order");
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends(i) == (i > 0 ? ends(i - 1) : 0)) throw nb::value_error("a chunk is empty");
    }
    const WordChunks given{reinterpret_cast<const std::uint8_t*>(chunks.c_str()), ends.data(),
                           counts.data(), ends.size()};
    PlainWords words;
    {
        nb::gil_scoped_release release;
        words = plain_words(given, rules, threads);
    }
    auto [bytes, word_ends, word_counts] = to_python(words.words);
    return {to_numpy(std::move(words.is_plain)), bytes, word_ends, word_counts};
}

// A byte for each character of ASCII.
std::array<std::uint8_t, 128> ascii(const Input<std::uint8_t>& table) {
    std::array<std::uint8_t, 128> result{};
    if (table.size() != result.size()) throw nb::value_error("128 characters of ASCII, please");
    std::copy_n(table.data(), table.size(), result.begin());
    return result;
}

Found spaced_words(nb::bytes chunks, Ends ends, Counts counts, Input<std::uint8_t> letters,
                   bool skip_spaces, bool line_starts, const std::vector<std::string>& symbols,
                   std::size_t threads) {
    SpacedWords rules{ascii(letters), skip_spaces, line_starts, {}};
    std::copy_if(symbols.begin(), symbols.end(), std::back_inserter(rules.symbols),
                 [](const std::string& symbol) { return !symbol.empty(); });
    return found(chunks, ends, counts, rules, threads);
}

Found class_words(nb::bytes chunks, Ends ends, Counts counts, Input<std::uint8_t> letters,
                  Input<std::uint8_t> classes, std::size_t threads) {
    return found(chunks, ends, counts, ClassWords{ascii(letters), ascii(classes)}, threads);
}

// How often each symbol stands in the text.
template <typename Symbol>
Array<std::uint64_t> symbol_counts(Input<Symbol> symbols, Ends ends, Counts counts,
                                   std::size_t alphabet) {
    check(ends, counts, symbols.size(), "word ends out of order");
    std::vector<std::uint64_t> sums(alphabet);
    std::size_t i = 0;
    for (std::size_t word = 0; word < ends.size(); ++word) {
        for (; i < ends(word); ++i) {
            if (symbols(i) >= alphabet) throw nb::value_error("a symbol outside the alphabet");
            sums[symbols(i)] += counts(word);
        }
    }
    return to_numpy(std::move(sums));
}

// The stretches of words that are made of symbols with a number of their own, as these numbers.
std::tuple<Array<std::uint32_t>, Array<std::uint64_t>, Array<std::uint64_t>> stretches(
    Input<Id> symbols, Ends ends, Counts counts, Input<std::uint32_t> numbers) {
    constexpr std::uint32_t kNone = 0xFFFFFFFFu;
    check(ends, counts, symbols.size(), "word ends out of order");
    std::vector<std::uint32_t> kept;
    std::vector<std::uint64_t> kept_ends, kept_counts;
    kept.reserve(symbols.size());
    kept_ends.reserve(ends.size());
    kept_counts.reserve(ends.size());
    std::size_t i = 0;
    for (std::size_t word = 0; word < ends.size(); ++word) {
        std::size_t start = kept.size();
        const auto finish = [&] {
            if (kept.size() == start) return;
            kept_ends.push_back(start = kept.size());
            kept_counts.push_back(counts(word));
        };
        for (; i < ends(word); ++i) {
            if (symbols(i) >= numbers.size()) throw nb::value_error("a symbol without a number");
            const std::uint32_t number = numbers(symbols(i));
            if (number == kNone) {
                finish();
            } else {
                kept.push_back(number);
            }
        }
        finish();
    }
    return {to_numpy(std::move(kept)), to_numpy(std::move(kept_ends)),
            to_numpy(std::move(kept_counts))};
}

}  // namespace

void bind_words(nb::module_& module) {
    using namespace nb::literals;

    module.def("spaced_words", &spaced_words, "chunks"_a, "ends"_a, "counts"_a, "letters"_a,
               "skip_spaces"_a, "line_starts"_a, "symbols"_a, "threads"_a);
    module.def("class_words", &class_words, "chunks"_a, "ends"_a, "counts"_a, "letters"_a,
               "classes"_a, "threads"_a);
    module.def("stretches", &stretches, "symbols"_a, "ends"_a, "counts"_a, "numbers"_a);
    module.def("symbol_counts", &symbol_counts<std::uint8_t>, "symbols"_a, "ends"_a, "counts"_a,
               "alphabet"_a);
    module.def("symbol_counts", &symbol_counts<Id>, "symbols"_a, "ends"_a, "counts"_a,
               "alphabet"_a);
}

}  // namespace toksmith::bindings

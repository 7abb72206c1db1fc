// Binds operations on counted words.

#include <nanobind/nanobind.h>
#include <nanobind/stl/tuple.h>

#include <vector>

#include "buffers.hpp"
#include "gil.hpp"

namespace toksmith::bindings {
namespace {

using Ends = Input<std::uint64_t>;
using Counts = Input<std::uint64_t>;

void check(const Ends& ends, const Counts& counts, std::size_t size, const char* what) {
    if (counts.size() != ends.size()) throw nb::value_error("counts needs one count per chunk");
    std::uint64_t before = 0;
    for (std::size_t i = 0; i < ends.size(); ++i) {
        if (ends(i) < before || ends(i) > size) throw nb::value_error(what);
        before = ends(i);
    }
}

// Counted words whose arrays have been validated.
template <typename Symbol>
struct Words {
    const Symbol* symbols;
    const std::uint64_t* ends;
    const std::uint64_t* counts;
    std::size_t words, size;

    Words(const Symbol* first, std::size_t number, const Ends& word_ends, const Counts& word_counts)
        : symbols(first),
          ends(word_ends.data()),
          counts(word_counts.data()),
          words(word_ends.size()),
          size(number) {
        check(word_ends, word_counts, number, "word ends must ascend and lie inside the symbols");
    }
};

Words<std::uint8_t> words_of(const nb::bytes& text, const Ends& ends, const Counts& counts) {
    return {reinterpret_cast<const std::uint8_t*>(text.c_str()), text.size(), ends, counts};
}
Words<Id> words_of(const Input<Id>& symbols, const Ends& ends, const Counts& counts) {
    return {symbols.data(), symbols.size(), ends, counts};
}

// How often each symbol occurs in the text.
template <typename Symbols>
Array<std::uint64_t> symbol_counts(const Symbols& symbols, const Ends& ends, const Counts& counts,
                                   std::size_t alphabet) {
    std::vector<std::uint64_t> sums(alphabet);
    {
        const WithoutGil without_gil;
        const auto given = words_of(symbols, ends, counts);
        InterruptionPoints<1024> points;
        std::size_t i = 0;
        for (std::size_t word = 0; word < given.words; ++word) {
            const std::uint64_t end = given.ends[word], count = given.counts[word];
            for (; i < end; ++i) {
                if (given.symbols[i] >= alphabet)
                    throw nb::value_error("a symbol is not in the alphabet");
                sums[given.symbols[i]] += count;
            }
            points.step();
        }
    }
    return to_numpy(std::move(sums));
}

// Maps the symbols of words to numbers. Symbols without a number split a word into segments.
class Numbered {
 public:
    template <typename Symbol>
    void add(const Words<Symbol>& words, const Input<std::uint32_t>& numbers) {
        const std::uint32_t* const number_of = numbers.data();
        const std::size_t alphabet = numbers.size();
        Id* next = symbols_.room(words.size);
        ends_.reserve(ends_.size() + words.words);
        counts_.reserve(ends_.size() + words.words);
        Id* start = next;
        const std::size_t before = symbols_.size();
        const Id* const first = next;
        const auto finish = [&](std::uint64_t count) {
            if (next == start) return;
            start = next;
            ends_.push_back(before + static_cast<std::size_t>(next - first));
            counts_.push_back(count);
        };
        std::size_t i = 0;
        InterruptionPoints<1024> points;
        for (std::size_t word = 0; word < words.words; ++word) {
            for (const std::uint64_t end = words.ends[word]; i < end; ++i) {
                if (words.symbols[i] >= alphabet) {
                    throw nb::value_error("a symbol is above the table of numbers");
                }
                const std::uint32_t number = number_of[words.symbols[i]];
                if (number == kNone) {
                    finish(words.counts[word]);
                } else {
                    *next++ = number;
                }
            }
            finish(words.counts[word]);
            points.step();
        }
        symbols_.resize(before + static_cast<std::size_t>(next - first));
    }
    std::size_t words() const { return ends_.size(); }

    // (symbols, ends, counts)
    using Found = std::tuple<Array<Id>, Array<std::uint64_t>, Array<std::uint64_t>>;
    Found to_python() && {
        return {to_numpy(std::move(symbols_)), to_numpy(std::move(ends_)),
                to_numpy(std::move(counts_))};
    }

 private:
    static constexpr std::uint32_t kNone = 0xFFFFFFFFu;

    IdArray symbols_;
    std::vector<std::uint64_t> ends_, counts_;
};

Numbered::Found segments(const Input<Id>& symbols, const Ends& ends, const Counts& counts,
                         const Input<std::uint32_t>& numbers) {
    Numbered found;
    {
        const WithoutGil without_gil;
        found.add(words_of(symbols, ends, counts), numbers);
    }
    return std::move(found).to_python();
}

// Returns the segments of words of bytes, followed by those of the other words; and the number of
// the former.
std::tuple<Numbered::Found, std::size_t> mixed_segments(
    const nb::bytes& text, const Ends& text_ends, const Counts& text_counts,
    const Input<std::uint32_t>& of_bytes, const Input<Id>& symbols, const Ends& ends,
    const Counts& counts, const Input<std::uint32_t>& numbers) {
    Numbered found;
    std::size_t words = 0;
    {
        const WithoutGil without_gil;
        found.add(words_of(text, text_ends, text_counts), of_bytes);
        words = found.words();
        found.add(words_of(symbols, ends, counts), numbers);
    }
    return {std::move(found).to_python(), words};
}

}  // namespace

void bind_words(nb::module_& module) {
    using namespace nb::literals;

    module.def("segments", &segments, "symbols"_a, "ends"_a, "counts"_a, "numbers"_a);
    module.def("mixed_segments", &mixed_segments, "text"_a, "text_ends"_a, "text_counts"_a,
               "of_bytes"_a, "symbols"_a, "ends"_a, "counts"_a, "numbers"_a);
    module.def("symbol_counts", &symbol_counts<nb::bytes>, "symbols"_a, "ends"_a, "counts"_a,
               "alphabet"_a);
    module.def("symbol_counts", &symbol_counts<Input<Id>>, "symbols"_a, "ends"_a, "counts"_a,
               "alphabet"_a);
}

}  // namespace toksmith::bindings

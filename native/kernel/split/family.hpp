// The published split patterns (see splitters/names.py) as parameters of one splitter.
#pragma once

#include <array>
#include <stdexcept>
#include <string>
#include <string_view>

namespace toksmith {

enum class Family { kNone, kGpt2, kCl100k, kCl100kTiktoken, kQwen2, kO200k, kModel, kTable };
inline constexpr int kFamilies = 8;
inline constexpr int kPatterns = 6;  // the families that are patterns; kModel and kTable are not

struct Traits {
    std::string_view name;
    bool whole = false;     // the text is one chunk
    bool by_model = false;  // the model's CutTable finds the chunks
    bool by_table = false;  // a TableScanner finds the chunks
    // A word's chunk may start with any character but \r, \n, letters and numbers; else with ' '.
    bool any_lead = false;
    bool fold_contractions = false;  // 'S is a contraction like 's
    bool cased = false;  // words are split by case, and a contraction belongs to the word before it
    unsigned max_digits = 0;  // of a chunk of digits; 0: no limit, and a ' ' may precede them
    bool newline_after_symbols = false;
    bool slash_after_symbols = false;
    bool newline_ends_space = false;  // white space is cut after its last line break
    bool tail_space_whole = false;  // white space at the end of the text is one chunk nevertheless
};

inline constexpr std::array<Traits, kFamilies> kTraits = {{
    {.name = "none", .whole = true},
    {.name = "gpt2"},
    {.name = "cl100k",
     .any_lead = true,
     .fold_contractions = true,
     .max_digits = 3,
     .newline_after_symbols = true,
     .newline_ends_space = true},
    {.name = "cl100k-tiktoken",
     .any_lead = true,
     .fold_contractions = true,
     .max_digits = 3,
     .newline_after_symbols = true,
     .newline_ends_space = true,
     .tail_space_whole = true},
    {.name = "qwen2",
     .any_lead = true,
     .fold_contractions = true,
     .max_digits = 1,
     .newline_after_symbols = true,
     .newline_ends_space = true},
    {.name = "o200k",
     .any_lead = true,
     .fold_contractions = true,
     .cased = true,
     .max_digits = 3,
     .newline_after_symbols = true,
     .slash_after_symbols = true,
     .newline_ends_space = true},
    {.name = "model", .by_model = true},
    {.name = "table", .by_table = true},
}};

inline constexpr const Traits& traits(Family family) {
    return kTraits[static_cast<std::size_t>(family)];
}

// The family with this name. Throws std::invalid_argument if there is none.
inline Family family_named(std::string_view name) {
    for (int i = 0; i < kFamilies; ++i) {
        if (traits(static_cast<Family>(i)).name == name) return static_cast<Family>(i);
    }
    throw std::invalid_argument("there is no split family \"" + std::string(name) + "\"");
}

}  // namespace toksmith

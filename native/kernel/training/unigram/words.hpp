// The words to train on: cut into parts that no piece crosses, counted and sorted. They lie in
// memory or, beyond a limit, in sorted runs in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/intact.hpp"
#include "counting/runs.hpp"
#include "training/piece_rules.hpp"
#include "training/training.hpp"

namespace toksmith::unigram {

// Words in memory. Characters are numbered in the order of their code points.
struct CountedWords {
    std::vector<std::uint32_t> text{0};  // a 0; then each word's characters, plus 1, and a 0
    std::vector<std::uint32_t> starts;   // the start of each word in `text`
    std::vector<std::uint64_t> counts;   // the count of each word
    std::size_t alphabet = 0;            // the number of characters

    std::uint32_t end(std::size_t word) const {  // the place of the 0
        const bool is_last = word + 1 == starts.size();
        return (is_last ? static_cast<std::uint32_t>(text.size()) : starts[word + 1]) - 1;
    }
};

// Some words in order, as many as make one block of tries.
struct WordBlock {
    struct Word {
        std::uint32_t end;     // in `text`
        std::uint32_t shared;  // how many first characters it shares with the word before
        std::uint64_t count;
    };
    std::vector<std::uint32_t> text;  // the characters of the words, plus 1
    std::vector<Word> words;
};

// Reads the distinct words in order. The blocks do not depend on where the words lie.
class WordReader {
 public:
    virtual ~WordReader() = default;
    // Replaces the content of a block. Returns false at the end. Has interruption points.
    bool next(WordBlock& block);

 protected:
    // Reads the next word; its characters replace those in `word`. Returns false at the end.
    virtual bool read(std::vector<std::uint32_t>& word, std::uint64_t& count) = 0;

 private:
    // The word that follows those already returned, and how much of the word before it shares.
    std::vector<std::uint32_t> waiting_, before_;
    std::uint64_t count_ = 0;
    std::uint32_t shared_ = 0;
    bool has_word_ = false, has_begun_ = false;
};

class WordStore {
 public:
    struct Options {
        bpe::PieceRules rules;
        std::size_t threads = 1;
        std::size_t memory = 0;  // for all that training needs, in bytes
        int descriptor = -1;     // of the file for what exceeds it; -1: there is no limit
        std::uint64_t space = ~std::uint64_t{0};  // the maximum size of the file in bytes
        bool has_pieces = false;  // whether the first pieces are known, so that none are searched
    };

    WordStore(std::vector<bpe::PieceTraits> alphabet, const Options& options);

    // Adds words to those of earlier calls. All functions here that take long have interruption
    // points, and throw std::system_error if the file fails, SpillFull if it is too large. Throws
    // std::length_error if words in memory have 2^32 - 1 or more characters.
    void add(const bpe::CountedSymbols& words);
    // Ends the adding; called before all functions below.
    void finish();
    // Starts a training, which frees the words. Throws std::logic_error if an earlier call was not
    // complete, or if this is not the first training.
    void begin() { const Intact::Change change(intact_); }

    const Options& options() const { return options_; }
    const std::vector<bpe::PieceTraits>& alphabet() const { return alphabet_; }
    // The number of occurrences of each character in the text, and of all characters plus 1.
    const std::vector<std::uint64_t>& character_counts() const { return character_counts_; }
    double characters() const;
    // No more substrings occur twice.
    std::uint64_t substrings() const { return substrings_; }

    bool in_file() const { return !runs_.empty(); }
    // The words, unless they are in the file.
    const CountedWords& in_memory() const { return words_; }
    // Sorted suffixes with their counts, unless the words are in memory; see suffix_runs.hpp. They
    // can be taken once.
    std::vector<SortedRun> take_suffixes();
    std::unique_ptr<WordReader> reader();
    // Frees the words.
    void clear();
    std::uint64_t spilled() const { return file_ ? file_->written() : 0; }  // bytes
    BlockFile* file() { return file_ ? &*file_ : nullptr; }

 private:
    void spill();

    Intact intact_{"words cannot be used after training, or after an error or an interruption"};
    Options options_;
    std::vector<bpe::PieceTraits> alphabet_;
    std::vector<std::uint64_t> character_counts_;
    std::uint64_t substrings_ = 0;
    std::optional<BlockFile> file_;
    CountedWords words_;  // until finish(), unsorted
    std::vector<SortedRun> runs_, suffixes_;
};

}  // namespace toksmith::unigram

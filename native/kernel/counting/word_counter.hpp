// Counting the words of lines, or whole lines, on several threads. The result depends on the text
// alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "counting/chunk_table.hpp"
#include "counting/distinct_chunks.hpp"
#include "counting/plain_words.hpp"
#include "text/text.hpp"

namespace toksmith {

// A line is cut before each space that stands behind a printable ASCII character: what normalizers
// do on one side of such a place does not depend on the other side. Each chunk but a line's first
// starts with the space; the first starts with "\n", so that the two kinds can be told apart.
//
// With rules for plain text, chunks that are plain are told into words at once, and only the others
// are counted as they are.
class WordCounter {
 public:
    struct Options {
        bool words = true;        // otherwise chunks are whole lines, without a mark
        std::size_t longest = 0;  // lines of more bytes are skipped; 0: no limit
        bool reserved = false;    // lines that hold U+2585 are skipped
        std::optional<PlainRules> plain{};
    };
    struct Lines {
        std::uint64_t counted = 0;  // lines that are not empty and not skipped
        std::uint64_t too_long = 0;
        std::uint64_t reserved = 0;
    };
    // Each in the order of the text.
    struct Found {
        DistinctChunks chunks;
        DistinctChunks plain;  // the words of plain chunks
    };

    explicit WordCounter(const Options& options);

    WordCounter(WordCounter&&) = default;

    // Counts the words of each document, which follow all that was added before.
    void add(const std::vector<Text>& documents, std::size_t threads);
    // All that was found. Ends the counting.
    Found finish();
    const Lines& lines() const { return lines_; }

 private:
    struct Piece {
        Text text;
        std::uint64_t first;   // the place of its first byte
        bool starts_document;  // no line break stands before it
    };
    // What a thread counts.
    struct Part {
        ChunkTable chunks;
        ChunkTable plain;
        Lines lines;
        std::vector<std::uint8_t> letters;      // of plain text, with room behind them
        std::vector<const std::uint8_t*> ends;  // of its words in them
    };
    class PieceCounter;

    Options options_;
    std::optional<PlainReader> plain_;
    std::vector<Part> parts_;  // one a thread
    Lines lines_;
    std::uint64_t position_ = 1;  // how many bytes were added so far, and one
};

}  // namespace toksmith

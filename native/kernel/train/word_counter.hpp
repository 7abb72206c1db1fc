// Counting the words of lines, or whole lines, on several threads. The result depends on the text
// alone.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "encode/loops.hpp"
#include "train/chunk_table.hpp"
#include "train/distinct_chunks.hpp"

namespace toksmith {

// A line is cut before each space that stands behind a printable ASCII character: what normalizers
// do on one side of such a place does not depend on the other side. Each chunk but a line's first
// starts with the space; the first starts with "\n", so that the two kinds can be told apart.
class WordCounter {
 public:
    struct Options {
        bool words = true;        // otherwise chunks are whole lines, without a mark
        std::size_t longest = 0;  // lines of more bytes are skipped; 0: no limit
        bool reserved = false;    // lines that hold U+2585 are skipped
    };
    struct Lines {
        std::uint64_t counted = 0;  // lines that are not empty and not skipped
        std::uint64_t too_long = 0;
        std::uint64_t reserved = 0;
    };

    explicit WordCounter(const Options& options) : options_(options) {}

    WordCounter(WordCounter&&) = default;

    // Counts the words of each document, which follow all that was added before.
    void add(const std::vector<Text>& documents, std::size_t threads);
    // All chunks in the order in which they were first seen. Ends the counting.
    DistinctChunks finish();
    const Lines& lines() const { return lines_; }

 private:
    struct Piece {
        Text text;
        std::uint64_t first;   // the place of its first byte
        bool starts_document;  // no line break stands before it
    };
    void count(const Piece& piece, ChunkTable& table, Lines& lines) const;
    void count_line(Text line, bool marked, std::uint64_t first, const std::uint8_t* text_end,
                    ChunkTable& table) const;

    Options options_;
    std::vector<ChunkTable> tables_;  // one a thread
    Lines lines_;
    std::uint64_t position_ = 0;  // how many bytes were added so far
};

}  // namespace toksmith

// Counts the words of lines, or whole lines, on several threads. The result does not depend on
// their number.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <vector>

#include "base/intact.hpp"
#include "counting/chunk_sample.hpp"
#include "counting/chunk_table.hpp"
#include "counting/distinct_chunks.hpp"
#include "counting/plain_words.hpp"
#include "counting/spilled_counts.hpp"
#include "split/cut_table.hpp"
#include "text/text.hpp"

namespace toksmith {

// A line is cut before each space that follows a printable ASCII character, because normalizers
// treat the two sides independently. The first chunk of a line starts with the "\n", and the others
// with the space, so that the two kinds differ.
//
// If there are rules for plain text, plain chunks are split into words here, and only other chunks
// are counted as they are. A table of cuts divides those further, unless they are invalid UTF-8.
class WordCounter {
 public:
    struct Options {
        bool words = true;        // false: whole lines are counted, without the "\n"
        std::size_t longest = 0;  // in bytes; longer lines are skipped; 0: no limit
        bool reserved = false;    // skip lines that contain U+2585
        std::optional<PlainRules> plain{};
        std::shared_ptr<const CutTable> cut_table{};
    };
    struct Lines {
        std::uint64_t counted = 0;  // lines that are neither empty nor skipped
        std::uint64_t too_long = 0;
        std::uint64_t reserved = 0;
    };
    // Both are in the order of first occurrence.
    struct Found {
        DistinctChunks chunks;
        DistinctChunks plain;  // the words of plain chunks
    };

    explicit WordCounter(const Options& options);

    WordCounter(WordCounter&&) = default;
    // Spills the tables to two files from now on, whenever they reach about `memory` bytes.
    // `chunks`, `plain`: the descriptors of the files.
    void limit(std::size_t memory, int chunks, int plain, std::uint64_t space = ~std::uint64_t{0});
    // Counts each of the following chunks `weight` times. Needs limit() first.
    void weigh(std::uint64_t weight);

    // Counts the words of each document. The documents follow those of earlier calls. Errors and
    // interruptions: see ChunkCounter::add().
    void add(const std::vector<Text>& documents, std::size_t threads);
    // Ends the counting and returns the counts. Only if nothing was spilled.
    Found finish();

    struct Spilled {
        SpilledCounts chunks;
        SpilledCounts plain;
    };
    // If anything was spilled or weighed, spills the rest and returns the spilled counts; otherwise
    // null.
    Spilled* spilled();
    std::uint64_t spilled_bytes() const {
        return spilled_ ? spilled_->chunks.bytes() + spilled_->plain.bytes() : 0;
    }
    std::uint64_t file_size() const {
        return spilled_ ? spilled_->chunks.file_size() + spilled_->plain.file_size() : 0;
    }
    // See ChunkCounter. The sum of the chunks and of the words of plain chunks.
    SpilledCounts::Tallies estimate(std::uint64_t unit) const;
    const Lines& lines() const { return lines_; }

 private:
    struct Block {
        Text text;
        std::uint64_t first;   // the position of its first byte
        bool starts_document;  // no line break precedes it
    };
    // The counts of one thread.
    struct Part {
        ChunkTable chunks;
        ChunkTable plain;
        Lines lines;
        std::vector<std::uint8_t> letters;      // buffer: letters of plain text, padded
        std::vector<const std::uint8_t*> ends;  // buffer: the ends of its words
    };
    class BlockCounter;

    // Counts a block.
    void count(const Block& block, Part& part) const;
    // The first line break from `from` on, or `end`.
    static const std::uint8_t* find_break(const std::uint8_t* from, const std::uint8_t* end);
    bool is_full(const Part& part, std::size_t threads) const;
    void spill();

    Options options_;
    std::optional<PlainReader> plain_;
    std::vector<Part> parts_;  // one for each thread
    Lines lines_;
    Intact intact_{"counts cannot be used after an error or an interruption of finish()"};
    std::uint64_t position_ = 1;  // bytes added so far, plus one for the "\n" before the first line
    std::size_t memory_ = 0;      // limit for all tables, in bytes
    std::uint64_t weight_ = 1;    // of the chunks that are now in the tables
    std::unique_ptr<Spilled> spilled_;
    ChunkSample chunk_sample_, plain_sample_;  // of the chunks that were spilled
};

}  // namespace toksmith

// Sorted runs of counted chunks in a file, for counts that do not fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <utility>
#include <vector>

#include "base/stop.hpp"

namespace toksmith {

// A counted chunk. Its bytes belong to the function or object that produced it.
struct Record {
    const std::uint8_t* bytes;
    std::uint64_t size;
    std::uint64_t count;
    std::uint64_t first;  // the position of its first occurrence
};

bool bytes_before(const Record& a, const Record& b);
inline bool first_before(const Record& a, const Record& b) { return a.first < b.first; }

// A file to append to and to read at any offset. The caller opens and closes it. Throws
// std::system_error on any failure, and if the contents were changed.
class SpillFile {
 public:
    explicit SpillFile(int descriptor) : descriptor_(descriptor) {}

    void append(const std::uint8_t* data, std::size_t size);
    // Overwrites bytes that were appended.
    void write(std::uint64_t offset, const std::uint8_t* data, std::size_t size) const;
    void read(std::uint64_t offset, std::uint8_t* data, std::size_t size) const;
    std::uint64_t size() const { return size_; }

 private:
    int descriptor_;
    std::uint64_t size_ = 0;
};

// Thrown if the counts of a BlockFile need more than its limit.
struct SpillFull : std::exception {
    const char* what() const noexcept override {
        return "the spilled counts need more space than spill_limit";
    }
};

// A file of blocks of fixed size. Freed blocks are reused, so the file grows only if none is free.
class BlockFile {
 public:
    static constexpr std::size_t kBlock = std::size_t{1} << 16;

    // `limit`: the maximum size in bytes.
    explicit BlockFile(int descriptor, std::uint64_t limit = ~std::uint64_t{0})
        : file_(descriptor), most_(limit / kBlock) {}

    // A block that no run uses. Throws SpillFull.
    std::uint32_t allocate();
    void free(std::uint32_t block) noexcept { free_.push_back(block); }
    // The number of blocks that can be allocated.
    std::uint64_t room() const { return most_ - blocks_ + free_.size(); }

    // At an offset inside a block; not beyond its end.
    void write(std::uint32_t block, std::size_t offset, const std::uint8_t* data, std::size_t size);
    void read(std::uint32_t block, std::size_t offset, std::uint8_t* data, std::size_t size) const {
        file_.read(std::uint64_t{block} * kBlock + offset, data, size);
    }

    // The number of bytes written, those of freed blocks included.
    std::uint64_t written() const { return written_; }
    // The size of the file, rounded up to blocks.
    std::uint64_t size() const { return blocks_ * kBlock; }

 private:
    SpillFile file_;
    std::uint64_t most_;  // blocks
    std::uint64_t blocks_ = 0, written_ = 0;
    std::vector<std::uint32_t> free_;  // has room for all blocks, since free() must not fail
};

// A sequence of records in the file. Each record is its size, count and first position as varints,
// followed by its bytes.
struct SortedRun {
    std::vector<std::uint32_t> blocks;
    std::uint64_t size = 0;  // in bytes
    std::uint64_t records = 0;
    std::uint64_t checksum = 0;
};

// The most bytes that the records of a run take.
std::uint64_t encoded_size(const std::vector<Record>& records);

// Writes a run. If it is not finished, its blocks are freed.
class RunWriter {
 public:
    explicit RunWriter(BlockFile& file);
    RunWriter(const RunWriter&) = delete;
    ~RunWriter();
    void add(const Record& record);
    // Ends the run; no record may be added afterwards.
    SortedRun finish();

 private:
    void append(const std::uint8_t* data, std::size_t size);
    void flush();

    BlockFile& file_;
    SortedRun run_;
    std::vector<std::uint8_t> buffer_;
};

class RunReader {
 public:
    // `buffer`: the number of bytes to read at a time. `frees`: whether blocks that were read are
    // freed.
    RunReader(BlockFile& file, SortedRun run, std::size_t buffer, bool frees = false);

    // Moves to the next record. Returns false at the end of the run.
    bool next();
    // Valid until next() is called again.
    const Record& record() const { return record_; }

 private:
    std::uint64_t varint();
    // Fills the buffer with `wanted` bytes, or with all that are left, and returns their number.
    std::size_t fill(std::size_t wanted);
    void read(std::uint8_t* data, std::size_t size);

    BlockFile* file_;
    SortedRun run_;
    bool frees_;
    std::vector<std::uint8_t> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // the unread bytes of the buffer
    std::uint64_t done_ = 0;           // bytes of the run that were read into the buffer
    std::uint64_t records_ = 0, checksum_ = 0;
    Record record_{};
};

// The records of several runs of the same order, merged to one sequence.
class MergedRuns {
 public:
    using Before = bool (*)(const Record&, const Record&);

    // `memory`: the number of bytes for all buffers together. `frees`: as in RunReader.
    MergedRuns(BlockFile& file, std::vector<SortedRun> runs, Before before, std::size_t memory,
               bool frees = false);
    MergedRuns(const MergedRuns&) = delete;

    // The next record, valid until the next call; null at the end. Has interruption points.
    const Record* next();

 private:
    void push(std::size_t reader);

    Before before_;
    std::vector<RunReader> readers_;
    std::vector<std::size_t> heap_;  // of readers, the first record on top
    std::size_t current_;            // the reader of the last record; none at the start
    InterruptionPoints<1024> points_;
};

// The distinct chunks of several runs that are sorted by chunk, each with the sum of its counts and
// its first position.
class SummedRuns {
 public:
    // `memory`, `frees`: as in MergedRuns.
    SummedRuns(BlockFile& file, std::vector<SortedRun> runs, std::size_t memory, bool frees = false)
        : records_(file, std::move(runs), bytes_before, memory, frees) {}

    // The next record, valid until the next call; null at the end. Has interruption points.
    const Record* next();

 private:
    MergedRuns records_;
    const Record* waiting_ = nullptr;  // was read, but is another chunk than the last one
    bool has_begun_ = false;
    std::vector<std::uint8_t> chunk_;
    Record sum_{};
};

}  // namespace toksmith

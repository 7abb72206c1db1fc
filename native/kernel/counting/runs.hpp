// Sorted runs of counted chunks in a file, for counts that do not fit into memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

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

// A sequence of records in the file. Each record is its size, count and first position as varints,
// followed by its bytes.
struct SortedRun {
    std::uint64_t offset = 0;
    std::uint64_t size = 0;  // in bytes
    std::uint64_t records = 0;
    std::uint64_t checksum = 0;
};

class RunWriter {
 public:
    explicit RunWriter(SpillFile& file);
    void add(const Record& record);
    // Ends the run; no record may be added afterwards.
    SortedRun finish();

 private:
    void flush();

    SpillFile& file_;
    SortedRun run_;
    std::vector<std::uint8_t> buffer_;
};

class RunReader {
 public:
    // `buffer`: the number of bytes to read at a time.
    RunReader(const SpillFile& file, const SortedRun& run, std::size_t buffer);

    // Moves to the next record. Returns false at the end of the run.
    bool next();
    // Valid until next() is called again.
    const Record& record() const { return record_; }

 private:
    std::uint64_t varint();
    // Fills the buffer with `wanted` bytes, or with all that are left, and returns their number.
    std::size_t fill(std::size_t wanted);

    const SpillFile* file_;
    SortedRun run_;
    std::vector<std::uint8_t> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // the unread bytes of the buffer
    std::uint64_t done_ = 0;           // bytes of the run that were read into the buffer
    std::uint64_t records_ = 0, checksum_ = 0;
    Record record_{};
};

}  // namespace toksmith

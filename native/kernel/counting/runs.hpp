// Counted chunks that memory has no room for: sorted runs in a file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace toksmith {

// A counted chunk. Its bytes belong to whoever hands it out.
struct Record {
    const std::uint8_t* bytes;
    std::uint64_t size;
    std::uint64_t count;
    std::uint64_t first;  // where it was first seen
};

bool bytes_before(const Record& a, const Record& b);
inline bool first_before(const Record& a, const Record& b) { return a.first < b.first; }

// A file to append to and to read from anywhere; it is the caller's to open and to close. What goes
// wrong with it, such as that it is not what was written, is a std::system_error.
class SpillFile {
 public:
    explicit SpillFile(int descriptor) : descriptor_(descriptor) {}

    void append(const std::uint8_t* data, std::size_t size);
    void read(std::uint64_t offset, std::uint8_t* data, std::size_t size) const;
    std::uint64_t size() const { return size_; }

 private:
    int descriptor_;
    std::uint64_t size_ = 0;
};

// Records one after the other, each as its size, count and first place in varints, then its bytes.
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
    // Ends the run. Nothing can be added after.
    SortedRun finish();

 private:
    void flush();

    SpillFile& file_;
    SortedRun run_;
    std::vector<std::uint8_t> buffer_;
};

class RunReader {
 public:
    // `buffer`: how many bytes to read at a time.
    RunReader(const SpillFile& file, const SortedRun& run, std::size_t buffer);

    // Goes to the next record, if there is one.
    bool next();
    // As long as this is not at the next one.
    const Record& record() const { return record_; }

 private:
    std::uint64_t varint();
    // Has so many bytes in the buffer, or all there are, and returns how many that is.
    std::size_t fill(std::size_t wanted);

    const SpillFile* file_;
    SortedRun run_;
    std::vector<std::uint8_t> buffer_;
    std::size_t begin_ = 0, end_ = 0;  // of what is in the buffer and was not taken yet
    std::uint64_t done_ = 0;           // how many bytes of the run were read
    std::uint64_t records_ = 0, checksum_ = 0;
    Record record_{};
};

}  // namespace toksmith

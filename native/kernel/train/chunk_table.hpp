// Counting chunks: each distinct chunk with its count and the place where it was first seen.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace toksmith {

class ChunkTable {
 public:
    struct Entry {
        std::uint64_t offset;  // of its bytes
        std::uint64_t size;
        std::uint64_t count;
        std::uint64_t first;  // where it was first seen
    };

    ChunkTable();
    void add(const std::uint8_t* chunk, std::size_t size, std::uint64_t count, std::uint64_t first);
    void merge(const ChunkTable& other);
    // Puts the entries in the order in which they were first seen; nothing can be added after.
    void sort_by_first();
    // All of the tables as one, in that order.
    static ChunkTable merged(std::vector<ChunkTable> tables);

    const std::vector<Entry>& entries() const { return entries_; }
    const std::uint8_t* bytes(const Entry& entry) const { return bytes_.data() + entry.offset; }
    std::size_t total_bytes() const { return bytes_.size(); }

 private:
    struct Slot {
        std::uint32_t hash;   // its upper half
        std::uint32_t entry;  // index + 1; 0: empty
    };
    void grow();

    std::vector<Slot> slots_;
    std::vector<Entry> entries_;
    std::vector<std::uint8_t> bytes_;
};

}  // namespace toksmith

// Counted chunks in compact blocks, in memory or in a file, for corpora whose chunks do not fit
// into the tables of a MergeTrainer. Blocks are read and replaced one by one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <mutex>
#include <vector>

#include "base/intact.hpp"
#include "counting/runs.hpp"
#include "training/symbol_bytes.hpp"
#include "training/training.hpp"

namespace toksmith::bpe {

class ChunkStore {
 public:
    // The chunks of one block, decoded.
    struct Chunks {
        std::vector<Id> symbols;
        std::vector<std::uint64_t> ends;
        std::vector<std::uint64_t> counts;

        void clear();
        // Ends a chunk after the symbols that were added.
        void end(std::uint64_t count);
        Counted<Id> counted() const { return {symbols.data(), ends, counts}; }
    };

    // Keeps blocks in memory up to `memory` bytes, and the others in the file, if there is one.
    // `descriptor`: of the file, which the caller closes; -1: none.
    explicit ChunkStore(std::size_t memory, int descriptor)
        : memory_(memory), has_file_(descriptor >= 0), file_(descriptor) {}

    // Adds chunks behind those of earlier calls. Has interruption points. Throws std::system_error
    // if the file cannot be written.
    template <typename Symbol>
    void add(const Counted<Symbol>& chunks);
    // Ends the adding. No block is read before. A store can be finished once: training merges its
    // chunks. Throws std::logic_error if it was, or if an earlier call was not complete.
    void finish();

    std::size_t blocks() const { return blocks_.size(); }
    // The number of symbols of all added chunks, and the same times the counts of the chunks.
    std::uint64_t symbols() const { return symbols_; }
    std::uint64_t tokens() const { return tokens_; }
    // The counts of chunks of one symbol, by symbol. No block holds them, since they have no pairs.
    const std::vector<std::uint64_t>& singles() const { return singles_; }
    // The number of symbols that were added before a block, which orders the blocks.
    std::uint64_t first(std::size_t block) const { return blocks_[block].first; }

    // Different blocks may be read and replaced by different threads. Chunks of one symbol are left
    // out.
    void read(std::size_t block, Chunks& out) const;
    void replace(std::size_t block, const Chunks& chunks);
    // Reads all blocks and removes them.
    Chunks take_all();

 private:
    static constexpr std::size_t kBlock = std::size_t{1} << 17;  // in bytes

    struct Block {
        std::uint64_t first = 0;
        std::uint64_t offset = 0;  // in the file
        std::size_t size = 0;      // in bytes
        std::size_t room = 0;      // of its place in the file, in bytes
        std::uint64_t checksum = 0;
        bool in_file = false;
        std::vector<std::uint8_t> bytes{};  // unless in the file
    };

    void add_block();
    void add_single(Id symbol, std::uint64_t count);
    void append(const Block& block, Chunks& out) const;
    void keep(Block& block, std::vector<std::uint8_t> bytes);

    Intact intact_{"chunks cannot be used after training, or after an error or an interruption"};
    std::size_t memory_;
    bool has_file_;
    SpillFile file_;
    mutable std::mutex guard_;  // protects file_ while it grows, and held_
    std::size_t held_ = 0;      // bytes of the blocks in memory
    std::vector<Block> blocks_;
    std::vector<std::uint8_t> open_;  // the block that is being filled
    std::uint64_t open_first_ = 0;
    std::uint64_t symbols_ = 0, tokens_ = 0;
    std::vector<std::uint64_t> singles_;
};

template <typename Symbol>
void ChunkStore::add(const Counted<Symbol>& chunks) {
    Intact::Change change(intact_);
    InterruptionPoints<1024> points;
    std::uint64_t start = 0;
    for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
        const std::uint64_t end = chunks.ends[chunk], size = end - start;
        const std::uint64_t count = chunks.counts[chunk];
        tokens_ += size * count;
        if (size > 1) {
            write_symbol(size, open_);
            write_symbol(count, open_);
            points.in_parts(size, [&](std::size_t from, std::size_t to) {
                for (std::size_t i = from; i < to; ++i) {
                    write_symbol(Id{chunks.symbols[start + i]}, open_);
                }
            });
        }
        if (size == 1) add_single(Id{chunks.symbols[start]}, count);
        symbols_ += size;
        if (open_.size() >= kBlock) add_block();
        points.step();
        start = end;
    }
    change.keep_usable();
}

}  // namespace toksmith::bpe

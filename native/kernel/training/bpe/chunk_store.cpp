#include "training/bpe/chunk_store.hpp"

#include <cerrno>
#include <system_error>
#include <utility>

#include "base/hash.hpp"
#include "base/stop.hpp"

namespace toksmith::bpe {

void ChunkStore::Chunks::clear() {
    symbols.clear();
    ends.clear();
    counts.clear();
}

void ChunkStore::Chunks::end(std::uint64_t count) {
    ends.push_back(symbols.size());
    counts.push_back(count);
}

void ChunkStore::add_block() {
    blocks_.push_back({.first = open_first_});
    keep(blocks_.back(), std::exchange(open_, {}));
    open_.reserve(kBlock + kBlock / 8);
    open_first_ = symbols_;
}

void ChunkStore::add_single(Id symbol, std::uint64_t count) {
    if (singles_.size() <= symbol) singles_.resize(symbol + 1);
    singles_[symbol] += count;
}

void ChunkStore::finish() {
    const Intact::Change change(intact_);
    if (!open_.empty()) add_block();
    open_ = {};
}

void ChunkStore::keep(Block& block, std::vector<std::uint8_t> bytes) {
    std::unique_lock lock(guard_);
    if (!block.in_file) held_ -= block.bytes.size();
    block.size = bytes.size();
    if (!block.in_file && (!has_file_ || held_ + bytes.size() <= memory_)) {
        bytes.shrink_to_fit();
        held_ += bytes.size();
        block.bytes = std::move(bytes);
        return;
    }
    block.bytes = {};
    block.in_file = true;
    block.checksum = hash_bytes(bytes.data(), bytes.size());
    if (bytes.size() <= block.room) {
        lock.unlock();
        file_.write(block.offset, bytes.data(), bytes.size());
        return;
    }
    // A new block, or one that grew: some merged symbols take more bytes than their two halves.
    block.offset = file_.size();
    block.room = bytes.size();
    file_.append(bytes.data(), bytes.size());
}

void ChunkStore::read(std::size_t block, Chunks& out) const {
    out.clear();
    append(blocks_[block], out);
}

ChunkStore::Chunks ChunkStore::take_all() {
    Chunks chunks;
    chunks.symbols.reserve(symbols_);
    for (Block& block : blocks_) {
        append(block, chunks);
        block = {};
    }
    blocks_.clear();
    return chunks;
}

void ChunkStore::append(const Block& block, Chunks& out) const {
    std::vector<std::uint8_t> loaded;
    const std::uint8_t* p = block.bytes.data();
    if (block.in_file) {
        loaded.resize(block.size);
        file_.read(block.offset, loaded.data(), block.size);
        if (hash_bytes(loaded.data(), block.size) != block.checksum) {
            throw std::system_error(EIO, std::generic_category(),
                                    "the file of chunks was changed by another program");
        }
        p = loaded.data();
    }
    InterruptionPoints<(1 << 16)> points;
    for (const std::uint8_t* const end = p + block.size; p < end;) {
        const auto size = read_symbol<std::uint64_t>(p), count = read_symbol<std::uint64_t>(p);
        points.in_parts(size, [&](std::size_t from, std::size_t to) {
            for (std::size_t i = from; i < to; ++i) out.symbols.push_back(read_symbol(p));
        });
        out.end(count);
    }
}

void ChunkStore::replace(std::size_t block, const Chunks& chunks) {
    std::vector<std::uint8_t> bytes;
    bytes.reserve(blocks_[block].size + kMostSymbolBytes);
    InterruptionPoints<(1 << 16)> points;
    std::size_t start = 0;
    for (std::size_t chunk = 0; chunk < chunks.ends.size(); ++chunk) {
        const std::size_t end = chunks.ends[chunk], size = end - start;
        if (size > 1) {
            write_symbol(size, bytes);
            write_symbol(chunks.counts[chunk], bytes);
            points.in_parts(size, [&](std::size_t from, std::size_t to) {
                for (std::size_t i = from; i < to; ++i) {
                    write_symbol(chunks.symbols[start + i], bytes);
                }
            });
        }
        start = end;
    }
    keep(blocks_[block], std::move(bytes));
}

}  // namespace toksmith::bpe

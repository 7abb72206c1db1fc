#include "training/unigram/trie_store.hpp"

#include <algorithm>
#include <cerrno>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/hash.hpp"

namespace toksmith::unigram {
namespace {

template <typename T>
std::uint8_t* bytes_of(std::vector<T>& values) {
    return reinterpret_cast<std::uint8_t*>(values.data());
}

std::uint64_t checksum_of(Trie& trie) {
    return hash_words(
        hash_bytes(bytes_of(trie.arcs), trie.arcs.size() * sizeof(trie.arcs[0])),
        hash_bytes(bytes_of(trie.strings), trie.strings.size() * sizeof(trie.strings[0])));
}

// Calls use(number, offset, data, size) for the parts of a trie that lie in one block of the file.
template <typename Use>
void in_file_blocks(Trie& trie, const Use& use) {
    std::size_t done = 0;
    const auto each = [&](std::uint8_t* data, std::size_t size) {
        while (size > 0) {
            const std::size_t offset = done % BlockFile::kBlock;
            const std::size_t part = std::min(size, BlockFile::kBlock - offset);
            use(done / BlockFile::kBlock, offset, data, part);
            data += part;
            size -= part;
            done += part;
        }
    };
    each(bytes_of(trie.strings), trie.strings.size() * sizeof(trie.strings[0]));
    each(bytes_of(trie.arcs), trie.arcs.size() * sizeof(trie.arcs[0]));
}

}  // namespace

void Trie::end(std::uint32_t shared, std::uint64_t value) {
    if (arcs.size() > std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("a word has too many matching seeds: use fewer seeds");
    }
    strings.push_back({static_cast<std::uint32_t>(arcs.size()), shared, value});
}

void TrieStore::put(std::size_t number, Trie& trie) {
    std::unique_lock lock(*guard_);
    if (number >= blocks_.size()) blocks_.resize(number + 1);
    Block& block = blocks_[number];
    block.arcs = trie.arcs.size();
    block.strings = trie.strings.size();
    const bool in_file = file_ && held_ + trie.bytes() > memory_;
    const std::size_t needed =
        in_file ? (trie.bytes() + BlockFile::kBlock - 1) / BlockFile::kBlock : 0;
    for (; block.place.size() > needed; block.place.pop_back()) file_->free(block.place.back());
    while (block.place.size() < needed) block.place.push_back(file_->allocate());
    if (in_file) {
        block.checksum = checksum_of(trie);
        in_file_blocks(
            trie, [&](std::size_t i, std::size_t offset, std::uint8_t* data, std::size_t size) {
                file_->write(block.place[i], offset, data, size);
            });
        return;
    }
    held_ += trie.bytes();
    lock.unlock();
    const std::size_t room = trie.arcs.capacity();
    block.trie = trie.arcs.size() < room - room / 8 ? trie : std::exchange(trie, {});
}

const Trie& TrieStore::get(std::size_t number, Trie& buffer) const {
    const Block& block = blocks_[number];
    if (block.place.empty()) return block.trie;
    read(block, buffer);
    return buffer;
}

Trie& TrieStore::take(std::size_t number, Trie& buffer) {
    Block& block = blocks_[number];
    if (!block.place.empty()) {
        read(block, buffer);
        return buffer;
    }
    const std::lock_guard lock(*guard_);
    held_ -= block.trie.bytes();
    buffer = std::exchange(block.trie, {});
    return buffer;
}

void TrieStore::read(const Block& block, Trie& trie) const {
    trie.arcs.resize(block.arcs);
    trie.strings.resize(block.strings);
    in_file_blocks(trie,
                   [&](std::size_t i, std::size_t offset, std::uint8_t* data, std::size_t size) {
                       file_->read(block.place[i], offset, data, size);
                   });
    if (checksum_of(trie) != block.checksum) {
        throw std::system_error(EIO, std::generic_category(),
                                "the file of tries was changed by another program");
    }
}

}  // namespace toksmith::unigram

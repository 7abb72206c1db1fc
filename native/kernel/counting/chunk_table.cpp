#include "counting/chunk_table.hpp"

#include <cstring>

namespace toksmith {

void ChunkTable::add(const std::uint8_t* chunk, std::size_t size, std::uint64_t count,
                     std::uint64_t first) {
    const Key key = ChunkKey::of(chunk, size, chunk + size);
    add(key, hash_of(key), chunk, size, count, first);
}

void ChunkTable::add_all(const std::uint8_t* begin, const std::uint8_t* const* ends,
                         std::size_t chunks, std::uint64_t first, const std::uint8_t* text_end,
                         const std::uint64_t* counts) {
    if (counts) {
        add_batches<true>(begin, ends, chunks, first, text_end, counts);
    } else {
        add_batches<false>(begin, ends, chunks, first, text_end, nullptr);
    }
}

template <bool kCounts>
void ChunkTable::add_batches(const std::uint8_t* begin, const std::uint8_t* const* ends,
                             std::size_t chunks, std::uint64_t first, const std::uint8_t* text_end,
                             [[maybe_unused]] const std::uint64_t* counts) {
    constexpr std::size_t kBatch = 64;
    Key keys[kBatch];
    std::uint64_t hashes[kBatch];
    std::uint8_t others[kBatch];
    const std::uint8_t* const text = begin;
    for (std::size_t done = 0; done < chunks;) {
        const std::size_t some = std::min(kBatch, chunks - done);
        // Prefetches the slots of all keys first, so that the memory accesses overlap.
        const std::uint8_t* chunk = begin;
        Slot* const slots = slots_.data();
        const unsigned shift = 64 - bits_;
        for (std::size_t i = 0; i < some; chunk = ends[done + i++]) {
            keys[i] =
                ChunkKey::of(chunk, static_cast<std::size_t>(ends[done + i] - chunk), text_end);
            hashes[i] = hash_of(keys[i]);
            __builtin_prefetch(slots + (hashes[i] >> shift), 1);
        }
        // Counts the short chunks in their first slots without a branch, which would often be
        // mispredicted. All others are added in order afterwards.
        std::size_t left = 0;
        for (std::size_t i = 0; i < some; ++i) {
            Slot& slot = slots[hashes[i] >> shift];
            const bool is_here = (((slot.low ^ keys[i].low) | (slot.high ^ keys[i].high)) == 0) &
                                 (keys[i].high < kLong);
            const std::uint64_t count = kCounts ? counts[done + i] : 1;
            slot.count += is_here ? count : 0;
            others[left] = static_cast<std::uint8_t>(i);
            left += !is_here;
        }
        for (std::size_t k = 0; k < left; ++k) {
            const std::size_t i = others[k];
            const std::uint8_t* const at = i == 0 ? begin : ends[done + i - 1];
            add(keys[i], hashes[i], at, static_cast<std::size_t>(ends[done + i] - at),
                kCounts ? counts[done + i] : 1, first + static_cast<std::uint64_t>(at - text));
        }
        done += some;
        begin = ends[done - 1];
        points_.step();
    }
}

inline void ChunkTable::add(const Key& key, std::uint64_t hash, const std::uint8_t* chunk,
                            std::size_t size, std::uint64_t count, std::uint64_t first) {
    if (size > ChunkKey::kInline) [[unlikely]] {
        return add_long(hash, chunk, size, count, first);
    }
    const std::size_t mask = (std::size_t{1} << bits_) - 1;
    for (std::size_t i = place_of(hash);; i = (i + 1) & mask) {
        Slot& slot = slots_.data()[i];
        if (slot.low == key.low && slot.high == key.high) [[likely]] {
            slot.count += count;
            return;
        }
        if (slot.high == 0) return insert(i, {key.low, key.high, count, first});
    }
}

void ChunkTable::add_long(std::uint64_t hash, const std::uint8_t* chunk, std::size_t size,
                          std::uint64_t count, std::uint64_t first) {
    const std::size_t mask = (std::size_t{1} << bits_) - 1;
    for (std::size_t i = place_of(hash);; i = (i + 1) & mask) {
        Slot& slot = slots_.data()[i];
        if (slot.high == 0) {
            // After an exception here, the bytes are unused, which does no harm.
            const std::size_t offset = long_bytes_.size();
            append_long(chunk, size);
            long_.push_back({offset, size});
            return insert(i, {hash, kLong | (long_.size() - 1), count, first});
        }
        if (!is_long(slot.high) || slot.low != hash) continue;
        const Long& known = long_[slot.high ^ kLong];
        if (known.size != size || std::memcmp(&long_bytes_[known.offset], chunk, size) != 0) {
            continue;
        }
        slot.count += count;
        return;
    }
}

void ChunkTable::append_long(const std::uint8_t* chunk, std::size_t size) {
    constexpr std::size_t kAtOnce = std::size_t{1} << 22;  // bytes between interruption points
    const std::size_t needed = long_bytes_.size() + size;
    if (needed > long_bytes_.capacity()) {
        long_bytes_.reserve(std::max(needed, 2 * long_bytes_.capacity()));
    }
    while (size > kAtOnce) {
        long_bytes_.insert(long_bytes_.end(), chunk, chunk + kAtOnce);
        chunk += kAtOnce;
        size -= kAtOnce;
        interruption_point();
    }
    long_bytes_.insert(long_bytes_.end(), chunk, chunk + size);
}

void ChunkTable::insert(std::size_t place, const Slot& slot) {
    // At most three quarters of the slots are used. The table grows before the insertion: if that
    // fails, it is unchanged.
    if ((size_ + 1) * 4 > (std::size_t{3} << bits_)) {
        grow();
        place = free_place(slots_, bits_, hash_of(slot));
    }
    slots_.data()[place] = slot;
    ++size_;
}

std::size_t ChunkTable::free_place(const HugePageArray<Slot>& slots, unsigned bits,
                                   std::uint64_t hash) {
    const std::size_t mask = (std::size_t{1} << bits) - 1;
    std::size_t i = hash >> (64 - bits);
    while (slots.data()[i].high != 0) i = (i + 1) & mask;
    return i;
}

std::vector<Record> ChunkTable::records() const {
    std::vector<Record> records;
    records.reserve(size_);
    InterruptionPoints<std::size_t{1} << 14> points;
    for (std::size_t i = 0; i < std::size_t{1} << bits_; ++i) {
        points.step();
        if (!is_used(i)) continue;
        const Slot& slot = slots_.data()[i];
        const Long found = is_long(slot.high) ? long_[slot.high ^ kLong] : Long{};
        const std::uint8_t* bytes = is_long(slot.high)
                                        ? long_bytes_.data() + found.offset
                                        : reinterpret_cast<const std::uint8_t*>(&slot.low);
        const std::uint64_t size = is_long(slot.high) ? found.size : slot.high >> 56;
        records.push_back({bytes, size, slot.count, slot.first});
    }
    return records;
}

std::size_t ChunkTable::memory_when_grown() const {
    const std::size_t slots = sizeof(Slot) << bits_;
    const std::size_t used = slots + long_bytes_.capacity() + long_.capacity() * sizeof(Long);
    // A growing table needs a second one of twice its size. The same holds for the bytes of long
    // chunks.
    const bool grows_soon = size_ * 16 > (std::size_t{11} << bits_);
    return used + size_ * sizeof(Record) +
           (grows_soon ? std::max(2 * slots, used) : 2 * long_bytes_.capacity());
}

void ChunkTable::grow() {
    const unsigned bits = bits_ + 1;
    HugePageArray<Slot> larger(std::size_t{1} << bits);
    for (std::size_t old = 0; old < std::size_t{1} << bits_; ++old) {
        const Slot& slot = slots_.data()[old];
        if (slot.high != 0) larger.data()[free_place(larger, bits, hash_of(slot))] = slot;
    }
    slots_ = std::move(larger);
    bits_ = bits;
}

}  // namespace toksmith

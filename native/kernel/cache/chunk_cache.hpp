// What each chunk became, for the chunks met lately. Bounded: a table of four-slot buckets that
// doubles up to a limit, and a ring for what does not fit into a slot.
//
// What came first stands first in its bucket, and is mostly what comes most often; so the first two
// slots answer nearly always. They are one line of memory, and lie apart from the other two, so
// that what is asked for lies on few pages.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>

#include "hash.hpp"
#include "huge_array.hpp"
#include "ids.hpp"

namespace toksmith {

class ChunkCache {
 public:
    static constexpr std::size_t kFirstSlots = std::size_t{1} << 13;
    static constexpr std::size_t kBytes = std::size_t{48}
                                          << 20;  // of memory, unless said otherwise
    // Longer chunks are rare and seldom come back; they are not kept.
    static constexpr std::size_t kLongest = 256;
    static constexpr std::size_t kInline = 15;  // bytes of a chunk that a slot holds: a short one

    static constexpr std::uint64_t kLongMark = 0x20;  // of a key: the text is too long for a slot
    struct Key {
        std::uint64_t low;
        std::uint64_t high;  // the highest byte: the size, or a mark
        std::uint64_t hash;

        bool operator==(const Key&) const = default;
        bool is_short() const { return high >> 56 <= kInline; }
        std::size_t size() const { return is_short() ? high >> 56 : high & ~(kLongMark << 56); }
        // Of a short chunk:
        const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(&low); }
    };

    static constexpr std::size_t kIdsInside = 3;

    // What a model says of the ids of a chunk beside them.
    using Note = std::uint32_t;
    static constexpr int kNoteBits = 24;
    static constexpr std::size_t kMostIds = 255;  // more are not kept

    struct Found {
        const Id* ids = nullptr;  // of a look-up: valid until the next insert
        std::size_t count = 0;
        Note note = 0;
    };

    // A few ids.
    struct Answer {
        Id ids[kIdsInside];
        std::uint32_t tail;

        std::size_t count() const { return tail & 0xFF; }
        Note note() const { return tail >> 8; }
        void set(const Found& found) {
            std::copy_n(found.ids, found.count, ids);  // there may be none
            set_tail(found.count, found.note);
        }
        void set_tail(std::size_t count, Note note) {
            tail = static_cast<std::uint32_t>(count) | note << 8;
        }
    };

    struct Slot {
        std::uint64_t low;
        std::uint64_t high;  // 0: empty
        Answer answer;       // or, in the first two ids, the place in the arena of (text and) ids

        std::uint64_t place() const { return std::uint64_t{answer.ids[1]} << 32 | answer.ids[0]; }
        void set_place(std::uint64_t place) {
            answer.ids[0] = static_cast<Id>(place);
            answer.ids[1] = static_cast<Id>(place >> 32);
        }
    };
    static_assert(sizeof(Slot) == 32);

    static constexpr std::size_t kWays = 4;
    // Two slots of a bucket.
    struct Line {
        Slot slots[kWays / 2];
    };
    // The bits of a hash that tell the bucket while the table is small: its lines' place in bytes.
    static constexpr std::uint64_t kFirstMask = (kFirstSlots / kWays - 1) * sizeof(Line);

    // Takes at most so many bytes, or a little where that is less than the least of 384 KiB.
    explicit ChunkCache(std::size_t bytes = kBytes)
        : most_slots_(std::clamp(std::bit_floor(bytes / kBytesPerSlot), kFirstSlots, kMostSlots)),
          first_(most_slots_ / kWays),
          rest_(most_slots_ / kWays),
          arena_words_(most_slots_ * kWordsPerSlot),
          arena_(arena_words_) {}

    // Of a chunk behind whose start at least kReach bytes can be read.
    static constexpr std::size_t kReach = 16;
    [[gnu::always_inline]] static Key key_of(const std::uint8_t* p, std::size_t size) {
        if (size > kInline) {
            const std::uint64_t hash = hash_bytes(p, size);
            return {hash, kLongMark << 56 | size, hash};
        }
        std::uint64_t low, high;
        std::memcpy(&low, p, 8);
        std::memcpy(&high, p + 8, 8);
        low &= kMasks.low[size];
        high = (high & kMasks.high[size]) | kMasks.size[size];
        return {low, high, hash_words(low, high)};
    }
    // `end` is the end of the readable text, at or behind the chunk's.
    [[gnu::always_inline]] static Key key_of(const std::uint8_t* p, std::size_t size,
                                             const std::uint8_t* end) {
        std::uint8_t copy[kReach] = {};
        if (p + kReach > end && size <= kInline) [[unlikely]] {
            std::memcpy(copy, p, size);
            p = copy;
        }
        return key_of(p, size);
    }

    // Asks the memory for what find() will look at.
    void prefetch(const Key& key) const { __builtin_prefetch(line_of(first_, key.hash)); }

    // Asks it for what look_up() looks at beside.
    void prefetch_rest(const Key& key) const { __builtin_prefetch(line_of(rest_, key.hash)); }

    // Of a short chunk of few ids, if it is one of the first two of its bucket. `differ` tells
    // whether two words at two places do.
    template <typename Differ>
    [[gnu::always_inline]] const Answer* find(const Key& key, Differ differ) const {
        const Slot* bucket = line_of(first_, key.hash);
        // Without branches: no guess is good at which one it is.
        const Slot* slot = bucket + differ(&bucket->low, &key.low);
        return differ(&slot->low, &key.low) ? nullptr : &slot->answer;
    }

    // What any chunk became; no ids if it is not known. Its slot comes to stand among the first
    // two: what is asked for again is worth it.
    Found look_up(const Key& key, const std::uint8_t* p, std::size_t size) {
        const Slot* slot = slot_of(key);
        if (!slot) return {};
        const Answer& answer = slot->answer;
        if (slot->high == key.high) return {answer.ids, answer.count(), answer.note()};
        const std::uint64_t place = slot->place();
        if (written_ - place > arena_words_) return {};  // written over since
        const Id* stored = arena_.data() + (place & (arena_words_ - 1));
        if (size > kInline) {
            if (std::memcmp(stored, p, size) != 0) return {};
            stored += words_for(size);
        }
        return {stored, answer.count(), answer.note()};
    }

    // Keeps what the chunk became, unless it or that is too long.
    void insert(const Key& key, const std::uint8_t* p, std::size_t size, const Id* ids,
                std::size_t count, Note note = 0) {
        if (size > kLongest || count > kMostIds) return;
        if (++inserted_ > used_ / 2 && used_ < most_slots_) grow();
        Slot& slot = slot_for(key);
        slot.low = key.low;
        slot.high = key.high;
        if (size <= kInline && count <= kIdsInside) return slot.answer.set({ids, count, note});
        slot.answer.set_tail(count, note);
        slot.high |= kOutsideMark << 56;
        const std::size_t text = size > kInline ? words_for(size) : 0;
        const std::size_t start = written_ & (arena_words_ - 1);
        if (start + text + count > arena_words_) written_ += arena_words_ - start;
        slot.set_place(written_);
        Id* stored = arena_.data() + (written_ & (arena_words_ - 1));
        if (text) std::memcpy(stored, p, size);
        std::copy_n(ids, count, stored + text);
        written_ += text + count;
    }

    void clear() {
        first_.clear();
        rest_.clear();
        use(kFirstSlots);
        inserted_ = 0;
        written_ = 0;
    }

 private:
    static constexpr std::size_t kMostSlots = std::size_t{1} << 30;
    static constexpr std::size_t kWordsPerSlot = 4;  // of the arena
    static constexpr std::size_t kBytesPerSlot = sizeof(Slot) + kWordsPerSlot * sizeof(Id);
    static constexpr std::uint64_t kOutsideMark = 0x40;  // its ids do not stand in the slot

    // What of 16 bytes belongs to a chunk of that size, and the highest byte of its key.
    struct Masks {
        std::array<std::uint64_t, kInline + 1> low, high, size;
    };
    static constexpr Masks kMasks = [] {
        Masks masks{};
        for (std::size_t size = 0; size <= kInline; ++size) {
            for (std::size_t i = 0; i < size; ++i) {
                (i < 8 ? masks.low : masks.high)[size] |= std::uint64_t{0xFF} << i % 8 * 8;
            }
            masks.size[size] = std::uint64_t{size} << 56;
        }
        return masks;
    }();

    static std::size_t words_for(std::size_t size) { return (size + 3) / 4; }
    Slot* line_of(const HugeArray<Line>& lines, std::uint64_t hash) const {
        auto* bytes = reinterpret_cast<std::byte*>(lines.data());
        return reinterpret_cast<Line*>(bytes + (hash & bucket_mask_))->slots;
    }
    // The slots of a bucket.
    struct Bucket {
        Slot *first, *rest;
        Slot& operator[](std::size_t way) const {
            return way < kWays / 2 ? first[way] : rest[way - kWays / 2];
        }
    };
    Bucket bucket_of(std::uint64_t hash) const {
        return {line_of(first_, hash), line_of(rest_, hash)};
    }
    void use(std::size_t slots) {
        used_ = slots;
        bucket_mask_ = (slots / kWays - 1) * sizeof(Line);
    }
    const Slot* slot_of(const Key& key) {
        const Bucket bucket = bucket_of(key.hash);
        for (std::size_t way = 0; way < kWays && bucket[way].high != 0; ++way) {
            if (!holds(bucket[way], key)) continue;
            if (way < 2) return &bucket[way];
            std::swap(bucket[1], bucket[way]);
            return &bucket[1];
        }
        return nullptr;  // mostly known from the first line: slots are taken in order
    }
    static bool holds(const Slot& slot, const Key& key) {
        return slot.low == key.low && (slot.high & ~(kOutsideMark << 56)) == key.high;
    }
    // A free slot, or the key's own, whose ids were written over; or else one of the last two. Now
    // and then, one of the first makes room instead, so that what has gone out of use does not stay
    // for good.
    Slot& slot_for(const Key& key) {
        const Bucket bucket = bucket_of(key.hash);
        for (std::size_t way = 0; way < kWays; ++way) {
            if (bucket[way].high == 0 || holds(bucket[way], key)) return bucket[way];
        }
        ++evicted_;
        Slot& last = bucket[kWays - 1 - evicted_ % 2];
        if (evicted_ % 8 == 0) std::swap(last, bucket[evicted_ / 8 % 2]);
        return last;
    }

    // Doubles the slots in use. Of each bucket, some move to the one of the new half.
    void grow() {
        const std::uint64_t bit = used_ / kWays * sizeof(Line);  // of a hash, new in the mask
        use(used_ * 2);
        for (std::uint64_t hash = 0; hash < bit; hash += sizeof(Line)) {
            const Bucket halves[2] = {bucket_of(hash), bucket_of(hash | bit)};
            std::size_t count[2] = {};
            for (std::size_t way = 0; way < kWays; ++way) {
                const Slot slot = std::exchange(halves[0][way], {});
                if (slot.high == 0) continue;
                const bool half = (hash_of(slot) & bit) != 0;
                halves[half][count[half]++] = slot;
            }
        }
    }
    static std::uint64_t hash_of(const Slot& slot) {
        const std::uint64_t high = slot.high & ~(kOutsideMark << 56);
        return high >> 56 == kLongMark ? slot.low : hash_words(slot.low, high);
    }

    std::size_t most_slots_;
    HugeArray<Line> first_, rest_;  // of each bucket; memory behind those in use is not touched
    std::size_t used_ = kFirstSlots;
    std::uint64_t bucket_mask_ = kFirstMask;
    std::size_t inserted_ = 0;
    std::size_t evicted_ = 0;
    // A ring: what was written longest ago is written over first. A place counts all words that
    // were ever written, so that it tells whether it still stands.
    std::size_t arena_words_;
    HugeArray<Id> arena_;
    std::uint64_t written_ = 0;
};

}  // namespace toksmith

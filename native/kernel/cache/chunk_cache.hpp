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
#include <optional>
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
        std::uint64_t low;   // of a chunk that is not short: the hash of its text
        std::uint64_t high;  // the highest byte: the size, or a mark; 0: no key

        bool operator==(const Key&) const = default;
        bool is_short() const { return high >> 56 <= kInline; }
        std::size_t size() const { return is_short() ? high >> 56 : high & ~(kLongMark << 56); }
        // Of a short chunk:
        const std::uint8_t* bytes() const { return reinterpret_cast<const std::uint8_t*>(&low); }
        bool is_ascii() const { return ((low | high) & 0x8080808080808080) == 0; }
    };

    static constexpr std::size_t kIdsInside = 6;  // of a slot, at most

    // What a model says of the ids of a chunk beside them.
    using Note = std::uint32_t;
    static constexpr int kNoteBits = 24;
    static constexpr std::size_t kMostIds = 255;  // more are not kept

    struct Found {
        const Id* ids = nullptr;  // of a look-up: valid until the next one, or an insert
        std::size_t count = 0;
        Note note = 0;
    };

    // A few ids: up to three as they are; more by two in a word, if each has 16 bits at most.
    struct Answer {
        static constexpr std::size_t kWords = 3;
        Id words[kWords];
        std::uint32_t tail;

        std::size_t count() const { return tail & 0xFF; }
        Note note() const { return tail >> 8; }
        bool is_plain() const { return count() <= kWords; }
        void unpack(Id* ids) const {
            for (std::size_t i = 0; i < kWords; ++i) {
                ids[2 * i] = words[i] & 0xFFFF;
                ids[2 * i + 1] = words[i] >> 16;
            }
        }
        // False: they do not fit in.
        bool set(const Found& found) {
            if (found.count > kIdsInside) return false;
            if (found.count <= kWords) {
                std::copy_n(found.ids, found.count, words);  // there may be none
            } else {
                Id ids[kIdsInside] = {}, all = 0;
                for (std::size_t i = 0; i < found.count; ++i) all |= ids[i] = found.ids[i];
                if (all > 0xFFFF) return false;
                for (std::size_t i = 0; i < kWords; ++i)
                    words[i] = ids[2 * i] | ids[2 * i + 1] << 16;
            }
            set_tail(found.count, found.note);
            return true;
        }
        void set_tail(std::size_t count, Note note) {
            tail = static_cast<std::uint32_t>(count) | note << 8;
        }
    };

    static constexpr std::size_t kWays = 4;
    // Two slots of a bucket, in a line of memory. Where the ids of one do not fit in, the answer's
    // first two tell where (text and) ids stand in the arena.
    struct alignas(64) Line {
        Key keys[kWays / 2];
        Answer answers[kWays / 2];
    };
    static_assert(sizeof(Line) == 64);

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
        if (size > kInline) return long_key(p, size);
        Key key;
        std::memcpy(&key, p, sizeof key);
        return {key.low & kMasks.low[size], (key.high & kMasks.high[size]) | kMasks.size[size]};
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

    // Spreads keys so that the first bits are the best.
    static std::uint64_t hash(const Key& key) {
        return (key.low + key.high * 0x5851F42D) * 0x9E3779B97F4A7C15;
    }

    // Where the lines of a key are, until the cache grows.
    class Places {
     public:
        explicit Places(std::size_t buckets) : shift_(64 - 6 - std::countr_zero(buckets)) {}
        std::size_t bytes(const Key& key) const { return hash(key) >> shift_ & ~std::size_t{63}; }

     private:
        int shift_;
        static_assert(sizeof(Line) == 1 << 6);
    };
    struct FirstLines {
        const std::byte* begin;
        Places places;
        // Asks the memory for what find() looks at.
        [[gnu::always_inline]] const Line* ask(const Key& key) const {
            const std::byte* line = begin + places.bytes(key);
            __builtin_prefetch(line);
            return reinterpret_cast<const Line*>(line);
        }
    };
    FirstLines first_lines() const {
        return {reinterpret_cast<const std::byte*>(first_.data()), places_};
    }
    // Asks it for what look_up() looks at beside.
    void prefetch_rest(const Key& key) const { __builtin_prefetch(line_of(rest_, key)); }

    // Of a short chunk of few ids, if it is one of the first two of its bucket. `place_of` is
    // pairs::place_of: no guess is good at which one it is.
    template <typename PlaceOf>
    [[gnu::always_inline]] static const Answer* find(const Line* line, const Key& key,
                                                     PlaceOf place_of) {
        const std::size_t place = place_of(&line->keys[0].low, &key.low);
        if (place > sizeof(Key)) return nullptr;
        static_assert(sizeof(Answer) == sizeof(Key));
        const auto* answers = reinterpret_cast<const std::byte*>(line->answers);
        return reinterpret_cast<const Answer*>(answers + place);
    }

    // Whether look_up() finds a slot of it among the first two of its bucket.
    bool is_near(const Key& key) const {
        const Line& line = *line_of(first_, key);
        return holds(line.keys[0], key) || holds(line.keys[1], key);
    }

    // What any chunk became; no ids if it is not known. Its slot comes to stand among the first
    // two: what is asked for again is worth it.
    Found look_up(const Key& key, const std::uint8_t* p, std::size_t size) {
        const std::optional<Slot> slot = slot_of(key);
        if (!slot) return {};
        const Answer& answer = slot->answer;
        if (slot->key.high == key.high) {
            if (answer.is_plain()) return {answer.words, answer.count(), answer.note()};
            answer.unpack(unpacked_.data());
            return {unpacked_.data(), answer.count(), answer.note()};
        }
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
        Slot slot = slot_for(key);
        slot.key = key;
        if (size <= kInline && slot.answer.set({ids, count, note})) return;
        slot.answer.set_tail(count, note);
        slot.key.high |= kOutsideMark << 56;
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
    static constexpr std::size_t kBytesPerSlot =
        sizeof(Key) + sizeof(Answer) + kWordsPerSlot * sizeof(Id);
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
    [[gnu::noinline, gnu::cold]] static Key long_key(const std::uint8_t* p, std::size_t size) {
        return {hash_bytes(p, size), kLongMark << 56 | size};
    }
    Line* line_of(const HugeArray<Line>& lines, const Key& key) const {
        auto* bytes = reinterpret_cast<std::byte*>(lines.data());
        return reinterpret_cast<Line*>(bytes + places_.bytes(key));
    }

    struct Slot {
        Key& key;
        Answer& answer;

        std::uint64_t place() const {
            return std::uint64_t{answer.words[1]} << 32 | answer.words[0];
        }
        void set_place(std::uint64_t place) {
            answer.words[0] = static_cast<Id>(place);
            answer.words[1] = static_cast<Id>(place >> 32);
        }
    };
    static void swap(Slot a, Slot b) {
        std::swap(a.key, b.key);
        std::swap(a.answer, b.answer);
    }
    struct Bucket {
        Line *first, *rest;
        Slot operator[](std::size_t way) const {
            Line& line = way < kWays / 2 ? *first : *rest;
            return {line.keys[way % (kWays / 2)], line.answers[way % (kWays / 2)]};
        }
    };
    Bucket bucket_of(const Key& key) const { return {line_of(first_, key), line_of(rest_, key)}; }
    void use(std::size_t slots) {
        used_ = slots;
        places_ = Places(slots / kWays);
    }
    std::optional<Slot> slot_of(const Key& key) {
        const Bucket bucket = bucket_of(key);
        for (std::size_t way = 0; way < kWays && bucket[way].key.high != 0; ++way) {
            if (!holds(bucket[way].key, key)) continue;
            if (way < 2) return bucket[way];
            swap(bucket[1], bucket[way]);
            return bucket[1];
        }
        return {};  // mostly known from the first line: slots are taken in order
    }
    static bool holds(const Key& slot, const Key& key) {
        return slot.low == key.low && (slot.high & ~(kOutsideMark << 56)) == key.high;
    }
    // A free slot, or the key's own, whose ids were written over; or else one of the last two. Now
    // and then, one of the first makes room instead, so that what has gone out of use does not stay
    // for good.
    Slot slot_for(const Key& key) {
        const Bucket bucket = bucket_of(key);
        for (std::size_t way = 0; way < kWays; ++way) {
            if (bucket[way].key.high == 0 || holds(bucket[way].key, key)) return bucket[way];
        }
        ++evicted_;
        const Slot last = bucket[kWays - 1 - evicted_ % 2];
        if (evicted_ % 8 == 0) swap(last, bucket[evicted_ / 8 % 2]);
        return last;
    }

    // Doubles the slots in use. The slots of each bucket go to two that lie side by side, behind
    // all whose slots have not moved yet.
    void grow() {
        use(used_ * 2);
        for (std::size_t bucket = used_ / kWays / 2; bucket-- > 0;) {
            const std::array<Line, 2> lines = {std::exchange(first_.data()[bucket], {}),
                                               std::exchange(rest_.data()[bucket], {})};
            std::size_t count[2] = {};
            for (const Line& line : lines) {
                for (std::size_t i = 0; i < kWays / 2; ++i) {
                    Key key = line.keys[i];
                    if (key.high == 0) continue;
                    key.high &= ~(kOutsideMark << 56);
                    const std::size_t half = places_.bytes(key) / sizeof(Line) % 2;
                    const std::size_t to = 2 * bucket + half;
                    const Slot slot = Bucket{&first_.data()[to], &rest_.data()[to]}[count[half]++];
                    slot.key = line.keys[i];
                    slot.answer = line.answers[i];
                }
            }
        }
    }

    std::size_t most_slots_;
    HugeArray<Line> first_, rest_;  // of each bucket; memory behind those in use is not touched
    std::size_t used_ = kFirstSlots;
    Places places_{kFirstSlots / kWays};
    std::size_t inserted_ = 0;
    std::size_t evicted_ = 0;
    std::array<Id, kIdsInside> unpacked_;  // of the last look-up
    // A ring: what was written longest ago is written over first. A place counts all words that
    // were ever written, so that it tells whether it still stands.
    std::size_t arena_words_;
    HugeArray<Id> arena_;
    std::uint64_t written_ = 0;
};

}  // namespace toksmith

// The table of the chunk cache, for one thread or for several at once.
//
// Each key hashes to one line of 64 bytes, with two slots. Four lines share an overflow line. Slots
// are filled in order of arrival, so frequent chunks, which arrive early, are almost always found
// in their first line. Overflow lines lie in an array of their own, to keep the first lines dense.
//
// With several threads, slots are write-once (free, claimed, published by the release store of the
// key's high word), so readers need no lock. A thread that is alone also moves and evicts entries.
#pragma once

#include <algorithm>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>

#include "cache/answer.hpp"
#include "cache/chunk_key.hpp"
#include "huge_array.hpp"
#include "isa/pairs.hpp"

namespace toksmith {

class ChunkLines {
 public:
    using Key = ChunkKey;

    static constexpr std::size_t kSlots = 2;  // of a line
    struct alignas(64) Line {
        Key keys[kSlots];
        Answer answers[kSlots];
    };
    static_assert(sizeof(Line) == 64);
    static constexpr Line kNone{};              // in which nothing stands
    static constexpr std::size_t kSharing = 4;  // first lines that share another one

    // Powers of two. Memory behind the lines in use is not touched. `small`: how many lines come on
    // small pages, since no more may be used.
    ChunkLines(std::size_t lines, std::size_t most, std::size_t small)
        : most_(most),
          first_(most, small),
          shared_(most / kSharing, small / kSharing),
          size_(lines),
          places_(lines) {}

    std::size_t size() const { return size_; }
    std::size_t most() const { return most_; }

    // Where the first line of a key is, until the table grows.
    struct Places {
        static constexpr std::uint64_t kMask = ~std::uint64_t{sizeof(Line) - 1};
        int shift;  // of a hash, so that behind the mask it is a place in bytes

        explicit Places(std::size_t lines) : shift(64 - 6 - std::countr_zero(lines)) {}
        std::size_t bytes(const Key& key) const { return key.hash() >> shift & kMask; }
        static_assert(sizeof(Line) == 1 << 6);
    };
    struct FirstLines {
        const std::byte* begin;
        Places places;
        // Asks the memory for what find() looks at. A key with zeros where a free slot has them is
        // not looked for there: a thread may be about to fill it.
        [[gnu::always_inline]] const Line* ask(const Key& key) const {
            if (key.low == 0) [[unlikely]]
                return &kNone;
            const std::byte* line = begin + places.bytes(key);
            __builtin_prefetch(line);
            return reinterpret_cast<const Line*>(line);
        }
    };
    FirstLines first_lines() const {
        return {reinterpret_cast<const std::byte*>(first_.data()), places_};
    }
    // Asks it for what fill() mostly writes to, and for what search() looks at beside.
    void prefetch_first(const Key& key) const { __builtin_prefetch(first_line_of(key), 1); }
    void prefetch_shared(const Key& key) const { __builtin_prefetch(shared_line_of(key)); }

    // Of a short chunk of few ids, if it stands in its first line. `place_of` is pairs::place_of:
    // no guess is good at which slot it is.
    template <typename PlaceOf>
    [[gnu::always_inline]] static const Answer* find(const Line* line, const Key& key,
                                                     [[maybe_unused]] PlaceOf place_of) {
#if defined(__SANITIZE_THREAD__)  // knows of no vector that it is read at once
        const std::size_t place = pairs::place_of(&line->keys[0].low, &key.low);
#else
        const std::size_t place = place_of(&line->keys[0].low, &key.low);
#endif
        if (place > sizeof(Key)) return nullptr;
        static_assert(sizeof(Answer) == sizeof(Key));
        const auto* answers = reinterpret_cast<const std::byte*>(line->answers);
        return reinterpret_cast<const Answer*>(answers + place);
    }

    struct Near {
        bool is_there, has_room;
    };
    // What its first line tells: where it has room, no other one has the key. Without a branch: no
    // guess is good at how much of a line is taken.
    [[gnu::always_inline]] Near near(const Key& key) const {
        const Line& line = *first_line_of(key);
        std::uint64_t last = 0;
        bool is_there = false;
        for (const Key& slot : line.keys) {
            last = last_word(slot);
            is_there |= holds(slot, last, key);
        }
        return {is_there, last == 0};
    }
    enum class End { kThere, kFree, kFull };
    struct Search {
        End end;
        Line* line;  // where it ended
        std::size_t slot;

        const Answer& answer() const { return line->answers[slot]; }
        // Whether the answer says where the ids stand, not which they are. An atomic read: a thread
        // that saw the slot free may still try to take it.
        bool is_outside() const { return (last_word(line->keys[slot]) & kOutsideMark) != 0; }
    };
    [[gnu::always_inline]] Search search(const Key& key) const {
        const Search found = search(key, first_line_of(key));
        return found.end == End::kFull ? search(key, shared_line_of(key)) : found;
    }
    // What became of a key that was to be added.
    enum class Kept { kAdded, kPresent, kFull };

    // Fills a slot, with what `write(answer)` does to it. `alone`: nobody else uses the table now;
    // then there is always one.
    template <typename Write>
    [[gnu::always_inline]] Kept fill(const Key& key, bool outside, bool alone, const Write& write) {
        for (;;) {
            Search place = search(key);
            if (alone) {
                if (place.end == End::kFull) place.slot = kSlots - 1;  // of the overflow line
            } else {
                if (place.end != End::kFree) return not_added(place.end);
                if (!take(place.line->keys[place.slot])) continue;
            }
            Key& slot = place.line->keys[place.slot];
            write(place.line->answers[place.slot]);
            std::atomic_ref(slot.low).store(key.low, std::memory_order_relaxed);
            std::atomic_ref(slot.high).store(outside ? key.high | kOutsideMark : key.high,
                                             std::memory_order_release);
            return Kept::kAdded;
        }
    }
    static Kept not_added(End end) { return end == End::kThere ? Kept::kPresent : Kept::kFull; }

    // Asks for the memory of so many lines.
    void ask_for_pages(std::size_t lines) const {
        first_.ask_for(size_, lines);
        shared_.ask_for(size_ / kSharing, lines / kSharing);
    }
    // Takes so many lines in use, when nobody else uses it. What stands in a line goes to some that
    // lie side by side, behind all that have not moved yet; nothing stands there.
    void grow(std::size_t lines) {
        const std::size_t before = size_;
        use(lines);
        const int doublings = std::countr_zero(lines) - std::countr_zero(before);
        constexpr std::size_t kAhead = 8;
        for (std::size_t i = before; i-- > 0;) {
            for (const Key& key : first_.data()[i - std::min(i, kAhead)].keys)
                __builtin_prefetch(first_line_of(without_mark(key)), 1);
            const Line line = std::exchange(first_.data()[i], {});
            // Without a branch: an empty slot is moved like any other.
            const std::size_t one = part_of(line.keys[0], doublings);
            const std::size_t other = part_of(line.keys[1], doublings);
            Line* const parts = first_.data() + (i << doublings);
            parts[one].keys[0] = line.keys[0];
            parts[one].answers[0] = line.answers[0];
            parts[other].keys[one == other] = line.keys[1];
            parts[other].answers[one == other] = line.answers[1];
        }
        for (std::size_t i = before / kSharing; i-- > 0;) {
            const Line line = std::exchange(shared_.data()[i], {});
            for (std::size_t slot = 0; slot < kSlots && line.keys[slot].high != 0; ++slot) {
                const Key& key = line.keys[slot];  // there is room for it
                fill(without_mark(key), key.high & kOutsideMark, true,
                     [&](Answer& answer) { answer = line.answers[slot]; });
            }
        }
    }
    // Nobody else uses it now.
    void clear(std::size_t lines) {
        first_.clear();
        shared_.clear();
        use(lines);
    }

 private:
    static constexpr std::uint64_t kOutsideMark = std::uint64_t{0x40} << 56;  // not in the slot
    // The last word of a slot that a thread is about to fill; no key has it.
    static constexpr std::uint64_t kTaken = std::uint64_t{0x80} << 56;

    static Key without_mark(const Key& key) { return {key.low, key.high & ~kOutsideMark}; }
    // It is written last and read first: when it is there, all of the slot is.
    static std::uint64_t last_word(const Key& slot) {
        return std::atomic_ref(const_cast<std::uint64_t&>(slot.high))
            .load(std::memory_order_acquire);
    }
    // Of a slot that another thread may be about to fill.
    static std::uint64_t first_word(const Key& slot) {
        return std::atomic_ref(const_cast<std::uint64_t&>(slot.low))
            .load(std::memory_order_relaxed);
    }
    static bool holds(const Key& slot, const Key& key) { return holds(slot, last_word(slot), key); }
    static bool holds(const Key& slot, std::uint64_t last_word, const Key& key) {
        return (((last_word & ~kOutsideMark) ^ key.high) | (first_word(slot) ^ key.low)) == 0;
    }
    // Whether the slot is this thread's to fill.
    static bool take(Key& slot) {
        std::uint64_t free = 0;
        return std::atomic_ref(slot.high).compare_exchange_strong(free, kTaken,
                                                                  std::memory_order_relaxed);
    }

    Line* first_line_of(const Key& key) const { return line_at(first_, places_.bytes(key)); }
    Line* shared_line_of(const Key& key) const {
        return line_at(shared_, places_.bytes(key) / kSharing & ~(sizeof(Line) - 1));
    }
    [[gnu::always_inline]] static Search search(const Key& key, Line* line) {
        const Key &one = line->keys[0], &other = line->keys[1];
        const std::uint64_t last = last_word(one), other_last = last_word(other);
        const bool is_one = holds(one, last, key), is_other = holds(other, other_last, key);
        if (is_one | is_other) return {End::kThere, line, std::size_t{is_other}};
        const bool is_free = (last == 0) | (other_last == 0);
        return {is_free ? End::kFree : End::kFull, line, std::size_t{last != 0}};
    }
    static Line* line_at(const HugeArray<Line>& lines, std::size_t bytes) {
        return reinterpret_cast<Line*>(reinterpret_cast<std::byte*>(lines.data()) + bytes);
    }
    void use(std::size_t lines) {
        size_ = lines;
        places_ = Places(lines);
    }
    // Of the lines that the keys of one go to.
    std::size_t part_of(const Key& key, int doublings) const {
        const std::size_t line = places_.bytes(without_mark(key)) / sizeof(Line);
        return line & ((std::size_t{1} << doublings) - 1);
    }

    std::size_t most_;
    HugeArray<Line> first_, shared_;
    std::size_t size_;  // first lines in use
    Places places_;
};

}  // namespace toksmith

// What each chunk became, for the chunks met lately. Bounded: a table that doubles up to a limit,
// and a ring for what does not fit into a slot.
//
// A chunk has a line of memory of two slots, and what came first stands there, which is mostly what
// comes most often; so this line answers nearly always. Four lines share another one for what comes
// later. These lie apart, so that what is asked for lies on few pages.
#pragma once

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <utility>
#include <vector>

#include "cache/chunk_key.hpp"
#include "cache/new_chunks.hpp"
#include "huge_array.hpp"
#include "ids.hpp"

namespace toksmith {

class ChunkCache {
 public:
    static constexpr std::size_t kBytes = std::size_t{48}
                                          << 20;  // of memory, unless said otherwise
    // Longer chunks are rare and seldom come back; they are not kept.
    static constexpr std::size_t kLongest = 256;
    using Key = ChunkKey;

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
        // Of a slot whose ids do not fit in: where (text and) ids stand in the arena.
        std::uint64_t place() const { return std::uint64_t{words[1]} << 32 | words[0]; }
        void set_place(std::uint64_t place) {
            words[0] = static_cast<Id>(place);
            words[1] = static_cast<Id>(place >> 32);
        }
    };

    static constexpr std::size_t kSlots = 2;  // of a line
    struct alignas(64) Line {
        Key keys[kSlots];
        Answer answers[kSlots];
    };
    static_assert(sizeof(Line) == 64);
    static constexpr std::size_t kSharing = 4;  // first lines that share another one

    static constexpr std::size_t kFewestLines = std::size_t{1} << 12;
    static constexpr std::size_t kWordsPerLine = 4;  // of the arena
    static constexpr std::size_t kBytesPerLine =
        sizeof(Line) + sizeof(Line) / kSharing + kWordsPerLine * sizeof(Id);

    // Takes at most so many bytes, or a little where that is less than the least of 384 KiB.
    explicit ChunkCache(std::size_t bytes = kBytes)
        : most_lines_(std::clamp(std::bit_floor(bytes / kBytesPerLine), kFewestLines, kMostLines)),
          first_(most_lines_),
          shared_(most_lines_ / kSharing),
          arena_words_(most_lines_ * kWordsPerLine),
          arena_(arena_words_) {}

    // Where the line of a key is, until the cache grows.
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
    void prefetch_shared(const Key& key) const { __builtin_prefetch(shared_line_of(key)); }

    // And for the text of a long chunk, if it stands in its first line.
    void prefetch_text(const Line& line, const Key& key) const {
        for (std::size_t i = 0; i < kSlots; ++i) {
            if (holds(line.keys[i], key)) __builtin_prefetch(stored_at(line.answers[i].place()));
        }
    }

    // Of a short chunk of few ids, if it stands in its first line. `place_of` is pairs::place_of:
    // no guess is good at which slot it is.
    template <typename PlaceOf>
    [[gnu::always_inline]] static const Answer* find(const Line* line, const Key& key,
                                                     PlaceOf place_of) {
        const std::size_t place = place_of(&line->keys[0].low, &key.low);
        if (place > sizeof(Key)) return nullptr;
        static_assert(sizeof(Answer) == sizeof(Key));
        const auto* answers = reinterpret_cast<const std::byte*>(line->answers);
        return reinterpret_cast<const Answer*>(answers + place);
    }

    // Whether look_up() finds a slot of it in its first line.
    bool is_near(const Key& key) const {
        const Line& line = *first_line_of(key);
        return holds(line.keys[0], key) || holds(line.keys[1], key);
    }

    // What any chunk became; no ids if it is not known. Its slot comes to stand in the first line:
    // what is asked for again is worth it.
    Found look_up(const Key& key, const std::uint8_t* p, std::size_t size) {
        const std::optional<Slot> slot = slot_of(key);
        if (!slot) return {};
        const Answer& answer = slot->answer;
        if (slot->key.high == key.high) {
            if (answer.is_plain()) return {answer.words, answer.count(), answer.note()};
            answer.unpack(unpacked_.data());
            return {unpacked_.data(), answer.count(), answer.note()};
        }
        const std::uint64_t place = slot->answer.place();
        if (written_ - place > arena_words_) return {};  // written over since
        const Id* stored = stored_at(place);
        if (size > Key::kInline) {
            if (std::memcmp(stored, p, size) != 0) return {};
            stored += words_for(size);
        }
        return {stored, answer.count(), answer.note()};
    }

    // Keeps what the chunk became, unless it or that is too long. Returns its answer, if that tells
    // all.
    const Answer* insert(const Key& key, const std::uint8_t* p, std::size_t size,
                         const Found& found) {
        const std::size_t count = found.count;
        if (size > kLongest || count > kMostIds) return nullptr;
        if (++inserted_ > lines_ && lines_ < most_lines_) grow();
        Slot slot = slot_for(key);
        slot.key = key;
        if (size <= Key::kInline && slot.answer.set(found)) return &slot.answer;
        slot.answer.set_tail(count, found.note);
        slot.key.high |= kOutsideMark << 56;
        const std::size_t text = size > Key::kInline ? words_for(size) : 0;
        const std::size_t start = written_ & (arena_words_ - 1);
        if (start + text + count > arena_words_) written_ += arena_words_ - start;
        slot.answer.set_place(written_);
        Id* stored = arena_.data() + (written_ & (arena_words_ - 1));
        if (text) std::memcpy(stored, p, size);
        std::copy_n(found.ids, count, stored + text);
        written_ += text + count;
        return nullptr;
    }

    // What other caches were given.
    struct Told {
        Key key;
        Answer answer;
    };
    using News = std::vector<Told>;
    // Keeps of it what finds a free slot in its first line: less of it will be asked for than of
    // what was met here.
    void keep(const News& news) {
        constexpr std::size_t kAhead = 16;
        for (std::size_t i = 0; i < news.size(); ++i) {
            if (i + kAhead < news.size()) __builtin_prefetch(first_line_of(news[i + kAhead].key));
            const auto& [key, answer] = news[i];
            Line& line = *first_line_of(key);
            for (std::size_t slot = 0; slot < kSlots && !holds(line.keys[slot], key); ++slot) {
                if (line.keys[slot].high != 0) continue;
                line.keys[slot] = key;
                line.answers[slot] = answer;
                ++told_;
                break;
            }
        }
    }

    // A text of so many bytes comes. Once it has brought many chunks, there is room at once for as
    // many as it may bring: to double again and again takes longer. What was told during the text
    // before counts from now on: to grow for it at once would take longer than it saves.
    void expect(std::size_t bytes) {
        inserted_ += std::exchange(told_, 0);
        new_chunks_ = {bytes, inserted_};
    }
    // So many bytes of it have been taken.
    void read(std::size_t bytes) { new_chunks_.read(bytes); }

    void clear() {
        first_.clear();
        shared_.clear();
        use(kFewestLines);
        inserted_ = told_ = 0;
        written_ = 0;
        new_chunks_ = {};
    }

 private:
    static constexpr std::size_t kMostLines = std::size_t{1} << 29;
    static constexpr std::size_t kMany = std::size_t{1} << 14;  // lines
    static constexpr std::uint64_t kOutsideMark = 0x40;         // its ids do not stand in the slot

    const Id* stored_at(std::uint64_t place) const {
        return arena_.data() + (place & (arena_words_ - 1));
    }
    static std::size_t words_for(std::size_t size) { return (size + 3) / 4; }
    Line* first_line_of(const Key& key) const { return line_at(first_, places_.bytes(key)); }
    Line* shared_line_of(const Key& key) const {
        return line_at(shared_, places_.bytes(key) / kSharing & ~(sizeof(Line) - 1));
    }
    static Line* line_at(const HugeArray<Line>& lines, std::size_t bytes) {
        return reinterpret_cast<Line*>(reinterpret_cast<std::byte*>(lines.data()) + bytes);
    }

    struct Slot {
        Key& key;
        Answer& answer;
    };
    static void swap(Slot a, Slot b) {
        std::swap(a.key, b.key);
        std::swap(a.answer, b.answer);
    }
    // Where a key may stand: the slots of its first line, then those of the shared one.
    struct Ways {
        static constexpr std::size_t kCount = 2 * kSlots;
        Line *first, *shared;
        Slot operator[](std::size_t way) const {
            Line& line = way < kSlots ? *first : *shared;
            return {line.keys[way % kSlots], line.answers[way % kSlots]};
        }
    };
    Ways ways_of(const Key& key) const { return {first_line_of(key), shared_line_of(key)}; }
    void use(std::size_t lines) {
        lines_ = lines;
        places_ = Places(lines);
    }
    std::optional<Slot> slot_of(const Key& key) {
        const Ways ways = ways_of(key);
        for (std::size_t way = 0; way < Ways::kCount && ways[way].key.high != 0; ++way) {
            if (!holds(ways[way].key, key)) continue;
            if (way < kSlots) return ways[way];
            swap(ways[kSlots - 1], ways[way]);
            return ways[kSlots - 1];
        }
        return {};  // mostly known from the first line: slots are taken in order
    }
    static bool holds(const Key& slot, const Key& key) { return without_mark(slot) == key; }
    static Key without_mark(const Key& key) { return {key.low, key.high & ~(kOutsideMark << 56)}; }
    // A free slot, or the key's own, whose ids were written over; or else one of the shared line.
    // Now and then, one of the first makes room instead, so that what has gone out of use does not
    // stay for good.
    Slot slot_for(const Key& key) {
        const Ways ways = ways_of(key);
        for (std::size_t way = 0; way < Ways::kCount; ++way) {
            if (ways[way].key.high == 0 || holds(ways[way].key, key)) return ways[way];
        }
        ++evicted_;
        const Slot last = ways[Ways::kCount - 1 - evicted_ % kSlots];
        if (evicted_ % 8 == 0) swap(last, ways[evicted_ / 8 % kSlots]);
        return last;
    }

    // Takes more lines in use. What stands in a line goes to some that lie side by side, behind all
    // that have not moved yet; nothing stands there.
    void grow() {
        const std::size_t lines = lines_;
        const std::size_t expected =
            lines < kMany ? 0 : std::bit_ceil(new_chunks_.in_all(inserted_));
        use(std::clamp(expected, lines * 2, most_lines_));
        const int doublings = std::countr_zero(lines_) - std::countr_zero(lines);
        for (std::size_t i = lines; i-- > 0;) {
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
        for (std::size_t i = lines / kSharing; i-- > 0;) {
            const Line line = std::exchange(shared_.data()[i], {});
            for (std::size_t slot = 0; slot < kSlots && line.keys[slot].high != 0; ++slot) {
                const Slot free = slot_for(without_mark(line.keys[slot]));  // there is one
                free.key = line.keys[slot];
                free.answer = line.answers[slot];
            }
        }
    }
    // Of the lines that the keys of one go to.
    std::size_t part_of(const Key& key, int doublings) const {
        const std::size_t line = places_.bytes(without_mark(key)) / sizeof(Line);
        return line & ((std::size_t{1} << doublings) - 1);
    }

    std::size_t most_lines_;
    HugeArray<Line> first_, shared_;    // memory behind the lines in use is not touched
    std::size_t lines_ = kFewestLines;  // of the first
    NewChunks new_chunks_;
    Places places_{kFewestLines};
    std::size_t inserted_ = 0;
    std::size_t told_ = 0;  // and kept
    std::size_t evicted_ = 0;
    std::array<Id, kIdsInside> unpacked_;  // of the last look-up
    // A ring: what was written longest ago is written over first. A place counts all words that
    // were ever written, so that it tells whether it still stands.
    std::size_t arena_words_;
    HugeArray<Id> arena_;
    std::uint64_t written_ = 0;
};

}  // namespace toksmith

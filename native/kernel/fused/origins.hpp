// The origins of the characters of a piece: from which bytes of the chunk each was made. Spans of
// normalized text are computed from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace toksmith {

// Which text a normalized character covers.
enum class Origin {
    // If a character becomes several, all of them cover it; if it becomes none, no span covers it.
    // Of spaces that collapse, the last one is covered. A space that was put before a text covers
    // the text's first character, too.
    kOwn,
    // The same, but spans are not known if a character becomes nothing.
    kKept,
    // As in SentencePiece: each character covers the text from its own origin up to that of the
    // next one, so of several made from one character only the last covers anything. A space that
    // was put before a text has the origin of the first character.
    kUpToNext,
};

class Origins {
 public:
    explicit Origins(Origin rule) : up_to_next_(rule == Origin::kUpToNext) {}

    // Starts a chunk. `led`: its first byte is a space that was put before the text.
    void begin(bool led) {
        clear();
        led_ = led;
    }
    // The bytes [start, end) of the chunk are normalized next.
    void read(std::size_t start, std::size_t end) {
        start_ = start;
        end_ = end;
    }
    // They become a character at byte `place` of the piece.
    void add(std::size_t place) {
        if (led_ && start_ == 0) {
            characters_.push_back({place, end_, end_});
            return;
        }
        if (!characters_.empty()) {
            Character& last = characters_.back();
            if (up_to_next_) {
                last.end = last.start == start_ ? last.start : start_;
            } else if (is_lead(last)) {
                last = {last.place, start_, end_};
            }
        }
        characters_.push_back({place, start_, end_});
    }
    // Or a space that is left out after another one.
    void leave_out() {
        if (characters_.empty()) return;
        Character& last = characters_.back();
        if (!up_to_next_) {
            last = {last.place, start_, end_};
        } else if (is_lead(last) && last.start == start_) {
            last.start = last.end = end_;
        }
    }
    // Ends the chunk of `size` bytes.
    void finish(std::size_t size) {
        if (up_to_next_ && !characters_.empty()) characters_.back().end = size;
    }
    // Starts a new piece.
    void clear() {
        characters_.clear();
        led_ = false;
    }

    // The bytes of the chunk that bytes [start, end) of the piece cover. `size`: of the piece. A
    // character that was not changed in length is resolved byte by byte.
    std::pair<std::size_t, std::size_t> of(std::size_t start, std::size_t end,
                                           std::size_t size) const {
        const auto first = holding(start), last = holding(std::max<std::size_t>(end, 1) - 1);
        return {first->start + (is_whole(first, size) ? start - first->place : 0),
                is_whole(last, size) ? last->start + end - last->place : last->end};
    }

 private:
    struct Character {
        std::size_t place, start, end;
    };
    using Iterator = std::vector<Character>::const_iterator;

    bool is_lead(const Character& c) const { return led_ && &c == &characters_.front(); }
    Iterator holding(std::size_t byte) const {
        return std::prev(std::ranges::upper_bound(characters_, byte, {}, &Character::place));
    }
    bool is_whole(Iterator c, std::size_t size) const {
        const std::size_t next = c + 1 == characters_.end() ? size : (c + 1)->place;
        return next - c->place == c->end - c->start;
    }

    bool up_to_next_, led_ = false;
    std::size_t start_ = 0, end_ = 0;
    std::vector<Character> characters_;
};

// Used if no spans are wanted.
struct NoOrigins {
    static void read(std::size_t, std::size_t) {}
    static void add(std::size_t) {}
    static void leave_out() {}
    static void finish(std::size_t) {}
    static void clear() {}
};

}  // namespace toksmith

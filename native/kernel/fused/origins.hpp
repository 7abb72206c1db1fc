// Records the origin of each character of a piece: the bytes of the chunk from which it was made.
// The spans of normalized text follow from them.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace toksmith {

// The rule for the span of a normalized character.
enum class Origin {
    // If one character becomes several, the span of each is that character; if it becomes none, no
    // span covers it. If spaces collapse, the span is the last of them. The span of a space that
    // was inserted before a text is the first character of the text.
    kOwn,
    // The same, but where characters become nothing, the origins of others shift: those of a chunk,
    // which the stages in Python compute, or those of the whole text if the first character becomes
    // nothing. This is how `tokenizers` aligns the characters of a compiled map.
    kShifted,
    // As in SentencePiece: the span of each character extends from its origin to that of the next
    // one; so if one character becomes several, only the last one's span is not empty. A space that
    // was inserted before a text has the origin of the first character.
    kUpToNext,
};

struct ByteRange {
    std::size_t start, end;
};

class Origins {
 public:
    // `space_precedes_piece`: see Stages.
    Origins(Origin rule, bool space_precedes_piece)
        : up_to_next_(rule == Origin::kUpToNext), space_precedes_piece_(space_precedes_piece) {}

    // Starts a chunk. `prefixed`: its first byte is a space that was inserted before the text.
    void begin(bool prefixed) {
        clear();
        prefixed_ = prefixed;
    }
    // The next normalized characters come from bytes [start, end) of the chunk.
    void read(std::size_t start, std::size_t end) {
        start_ = start;
        end_ = end;
    }
    // Adds a normalized character, which starts at byte `place` of the piece.
    void add(std::size_t place) {
        if (prefixed_ && start_ == 0) {
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
    // Adds a normalized character of known origin.
    void put(std::size_t place, ByteRange origin) {
        characters_.push_back({place, origin.start, origin.end});
    }
    // Adds a space that is dropped because it follows another one.
    void leave_out() {
        if (characters_.empty()) return;
        Character& last = characters_.back();
        if (!up_to_next_) {
            last = {last.place, start_, end_};
        } else if (is_lead(last) && last.start == start_) {
            last.start = last.end = end_;
        }
    }
    // Ends a chunk of `size` bytes.
    void finish(std::size_t size) {
        if (up_to_next_ && !characters_.empty()) characters_.back().end = size;
    }
    // Starts a new piece.
    void clear() {
        characters_.clear();
        prefixed_ = false;
    }

    // The bytes of the chunk that bytes [start, end) of the piece cover. `size`: of the piece, in
    // bytes. Inside a character whose length in bytes did not change, bytes map one to one.
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

    bool is_lead(const Character& c) const {
        return (prefixed_ || space_precedes_piece_) && &c == &characters_.front();
    }
    Iterator holding(std::size_t byte) const {
        return std::prev(std::ranges::upper_bound(characters_, byte, {}, &Character::place));
    }
    bool is_whole(Iterator c, std::size_t size) const {
        const std::size_t next = c + 1 == characters_.end() ? size : (c + 1)->place;
        return next - c->place == c->end - c->start;
    }

    bool up_to_next_, space_precedes_piece_, prefixed_ = false;
    std::size_t start_ = 0, end_ = 0;
    std::vector<Character> characters_;
};

// Used if no spans are requested.
struct NoOrigins {
    static void read(std::size_t, std::size_t) {}
    static void add(std::size_t) {}
    static void leave_out() {}
    static void finish(std::size_t) {}
    static void clear() {}
};

}  // namespace toksmith

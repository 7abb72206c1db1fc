// Where the characters of a piece came from: what spans of a rewritten text are made of.
#pragma once

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <utility>
#include <vector>

namespace toksmith {

// What a character that was rewritten stands for.
enum class Origin {
    // What becomes several characters, all of these; what becomes nothing, none. Of several spaces
    // it is the last. A space that was put before a text stands for its first character, too.
    kOwn,
    // The same, but where a character becomes nothing, none of the text is told.
    kKept,
    // As SentencePiece has it: each for what lies between its place and that of the next one, so
    // that only the last of several stands for anything. A space that was put there has the place
    // of the first character.
    kUpToNext,
};

class Origins {
 public:
    explicit Origins(Origin rule) : up_to_next_(rule == Origin::kUpToNext) {}

    // A chunk comes. `led`: its first byte is a space that was put there.
    void begin(bool led) {
        clear();
        led_ = led;
    }
    // These bytes of the chunk become characters now.
    void read(std::size_t start, std::size_t end) {
        start_ = start;
        end_ = end;
    }
    // One that stands in the piece from byte `place` on.
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
    // Or a space that is left out behind another one.
    void leave_out() {
        if (characters_.empty()) return;
        Character& last = characters_.back();
        if (!up_to_next_) {
            last = {last.place, start_, end_};
        } else if (is_lead(last) && last.start == start_) {
            last.start = last.end = end_;
        }
    }
    // The chunk has ended, of so many bytes.
    void finish(std::size_t size) {
        if (up_to_next_ && !characters_.empty()) characters_.back().end = size;
    }
    // A new piece begins.
    void clear() {
        characters_.clear();
        led_ = false;
    }

    // What bytes of the piece, of `size`, stand for in the chunk. Those of a character that has as
    // many as what it came from are told apart.
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

// Nobody asks.
struct NoOrigins {
    static void read(std::size_t, std::size_t) {}
    static void add(std::size_t) {}
    static void leave_out() {}
    static void finish(std::size_t) {}
    static void clear() {}
};

}  // namespace toksmith

// The output of a SpanModel: words that hold the ids of tokens and their spans. They are cached,
// deferred and collected like ids, so the chunk loop needs no other code for spans.
//
// The words are read with a place in the text, at first the start of the text. Each token is a code
// and its id; it starts at the place, which moves to its end. Other codes move the place. The
// records of a chunk end with the place at the end of the chunk, so they do not depend on where in
// a text the chunk is. Most tokens of most vocabularies take two values of 16 bits.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <stdexcept>

#include "base/id_array.hpp"

namespace toksmith::span_records {

// The low bits of a code. A token is an even number: bit 1 is a gap of one byte before it, and the
// higher bits are its length.
enum Code : Id {
    kGap = 2,
    kSkip = 1,    // moves the place forward
    kBack = 3,    // moves it back, for characters of which several tokens were made
    kLonger = 5,  // adds to the length of the next token
    kCode = 7,
};
inline constexpr int kTokenBits = 2, kMoveBits = 3;
inline constexpr std::uint64_t kMostMove = (std::uint64_t{1} << (32 - kMoveBits)) - 1;

// Appends the records of one chunk.
class Writer {
 public:
    explicit Writer(IdArray& out) : out_(out) {}

    void token(Id id, std::uint64_t start, std::uint64_t end) {
        if (end < start) throw std::logic_error("a span ends before it starts");
        Id gap = 0;
        if (start == place_ + 1) {
            gap = kGap;
        } else {
            move_to(start);
        }
        std::uint64_t length = end - start;
        for (; length > kMostMove; length -= kMostMove) push(kLonger, kMostMove);
        out_.push(static_cast<Id>(length) << kTokenBits | gap);
        out_.push(id);
        place_ = end;
    }
    // Ends a chunk of `size` bytes.
    void finish(std::uint64_t size) { move_to(size); }

 private:
    void move_to(std::uint64_t place) {
        while (place_ != place) {
            const bool forward = place > place_;
            const std::uint64_t step =
                std::min(forward ? place - place_ : place_ - place, kMostMove);
            push(forward ? kSkip : kBack, step);
            place_ = forward ? place_ + step : place_ - step;
        }
    }
    void push(Code code, std::uint64_t value) {
        out_.push(static_cast<Id>(value) << kMoveBits | code);
    }

    IdArray& out_;
    std::uint64_t place_ = 0;
};

// Calls use(id, start, end) for each token. `word` to `end` are the records of whole chunks.
template <typename Use>
inline void read(const Id* word, const Id* end, const Use& use) {
    std::int64_t place = 0, longer = 0;
    while (word < end) {
        const Id code = *word++;
        if ((code & 1) == 0) [[likely]] {
            const std::int64_t start = place + (code >> 1 & 1);
            place = start + (code >> kTokenBits) + longer;
            longer = 0;
            use(*word++, start, place);
            continue;
        }
        const auto value = static_cast<std::int64_t>(code >> kMoveBits);
        switch (code & kCode) {
            case kSkip:
                place += value;
                break;
            case kBack:
                place -= value;
                break;
            default:
                longer += value;
        }
    }
}

}  // namespace toksmith::span_records

// Ids with spans: the result of Encoder::encode_with_spans(), and the arrays that threads fill.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <utility>
#include <vector>

#include "base/id_array.hpp"

namespace toksmith {

// A growing array of spans, each a start and an end of 64 bits.
class SpanArray {
 public:
    static constexpr std::size_t kWords = 2 * sizeof(std::int64_t) / sizeof(Id);  // of one span

    SpanArray() = default;
    // Uses the memory of an empty array.
    explicit SpanArray(IdArray words) : words_(std::move(words)) {}

    std::int64_t* data() { return reinterpret_cast<std::int64_t*>(words_.data()); }
    std::size_t size() const { return words_.size() / kWords; }
    IdArray take_words() { return std::move(words_); }
    // Adds `count` spans and returns where to write them.
    std::int64_t* extend(std::size_t count) {
        return reinterpret_cast<std::int64_t*>(words_.extend(count * kWords));
    }
    // Drops all spans but the first `size`.
    void shrink(std::size_t size) { words_.resize(size * kWords); }
    void reserve(std::size_t capacity) { words_.reserve(capacity * kWords); }
    void append(SpanArray& other) {
        if (other.size() == 0) return;
        std::memcpy(extend(other.size()), other.data(), other.words_.size() * sizeof(Id));
    }

 private:
    IdArray words_;
};

// Ids and their spans.
struct Located {
    IdArray ids;
    SpanArray bytes;
    SpanArray characters;               // empty if all texts are ASCII: equal to `bytes`
    std::vector<std::int64_t> offsets;  // of each document in `ids`; then the end of the last

    bool is_ascii = true;
    // Starts to keep spans in characters apart from those in bytes.
    void separate() {
        if (!is_ascii) return;
        characters.append(bytes);
        is_ascii = false;
    }
    // Concatenates the arrays of all parts, but not their offsets. Takes their memory.
    static Located concat(std::vector<Located>& parts) {
        if (parts.size() == 1) return std::move(parts.front());
        Located all;
        std::size_t count = 0;
        for (const Located& part : parts) {
            count += part.ids.size();
            all.is_ascii = all.is_ascii && part.is_ascii;
        }
        all.ids.reserve(count);
        all.bytes.reserve(count);
        if (!all.is_ascii) all.characters.reserve(count);
        for (Located& part : parts) {
            all.ids.append(part.ids.data(), part.ids.size());
            all.bytes.append(part.bytes);
            if (!all.is_ascii) all.characters.append(part.is_ascii ? part.bytes : part.characters);
            part = Located();
        }
        return all;
    }
};

}  // namespace toksmith

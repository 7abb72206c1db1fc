// Decodes ids to bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/id_array.hpp"
#include "base/pages.hpp"

namespace toksmith {

class Decoder {
 public:
    // `offsets`: the start of each token in `bytes`, then the end of the last one. `known`: whether
    // each id has a token; if empty, ids with at least one byte do.
    Decoder(const std::vector<std::uint8_t>& bytes, std::vector<std::uint64_t> offsets,
            const std::vector<std::uint8_t>& known = {});

    static constexpr std::size_t kAllKnown = ~std::size_t{0};
    // The index of the first id that is not in the vocabulary, or kAllKnown.
    std::size_t first_unknown(const Id* ids, std::size_t count) const;

    // The ids cut into parts, one for each thread; no parts if an id is not in the vocabulary. No
    // part starts inside a character.
    struct Parts {
        struct Place {
            std::size_t id, byte, character;
        };
        std::string_view before;    // bytes before those of the first id
        std::vector<Place> starts;  // of each part, then the end of the last one
        unsigned width = 0;         // utf8::Width of the characters, if the bytes are valid UTF-8
        bool some_empty = false;    // some id has no bytes
        bool known() const { return !starts.empty(); }
        std::size_t bytes() const { return starts.back().byte; }
        std::size_t characters() const { return starts.back().character; }
    };
    Parts measure(const Id* ids, std::size_t count, std::size_t threads,
                  std::string_view before = {}) const;

    // Writes the bytes of the ids to `out`, which must be large enough for `parts`.
    void decode(const Id* ids, const Parts& parts, std::uint8_t* out) const;

    // Writes the characters of the ids to `out`, each as wide as the widest of them. Returns false
    // if the bytes are invalid UTF-8; then `out` is undefined.
    bool decode_characters(const Id* ids, const Parts& parts, void* out) const;

 private:
    // Bytes that are copied at once. Most tokens are shorter, and this is faster than copying their
    // exact size.
    static constexpr std::size_t kStride = 16;
    struct alignas(kStride) Entry {
        std::uint8_t bytes[kStride - 1];
        std::uint8_t size;  // bytes of the token, or one of the following marks
    };
    static constexpr std::uint8_t kLong = kStride, kUnknown = kStride + 1;
    // What one look-up adds to the totals of a text.
    struct Summary {
        std::uint16_t size : 5;
        std::uint16_t characters : 5;
        std::uint16_t width : 3;
        std::uint16_t inside : 1;  // the token may start with a continuation byte
    };
    struct Sum {
        std::size_t bytes = 0, characters = 0;
        unsigned width = 0;
        bool known = true, some_empty = false;
        void add_characters(std::string_view text);
    };

    // The index of an id in the tables. All ids beyond the vocabulary share the last one, which is
    // unknown.
    std::size_t place(Id id) const { return id < summaries_.size() ? id : summaries_.size() - 1; }
    Sum sum(const Id* ids, const Id* last) const;
    std::string_view bytes_of(std::size_t at) const {
        return {bytes_.data() + offsets_[at], bytes_.data() + offsets_[at + 1]};
    }
    const Id* decode_some(const Id* ids, const Id* last, std::uint8_t*& out,
                          const std::uint8_t* end) const;
    template <typename Unit>
    bool decode_all(const Id* ids, const Parts& parts, Unit* out) const;
    template <typename Unit>
    bool decode_part(const Id* ids, const Parts::Place& start, const Parts::Place& end,
                     pages::PageWarmer& warmer, Unit* out) const;

    std::string bytes_;
    std::vector<std::uint64_t> offsets_;
    std::vector<Entry> entries_;
    std::vector<Summary> summaries_;
    std::size_t longest_ = 0;
};

}  // namespace toksmith

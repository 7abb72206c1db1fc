// Runs the normalizer and the splitter, called "stages", on a chunk. A piece is a part of the
// normalized chunk that the splitter passes to the model.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "base/stop.hpp"
#include "fused/origins.hpp"
#include "split/character_table.hpp"
#include "split/cut_table.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

// How the splitter treats a normalized character.
enum class Unit : std::uint8_t {
    kRemoved,  // dropped, and ends a piece
    kAlone,    // a piece by itself
    kStart,    // starts a piece
    kSpace,    // a space, if spaces collapse
    kRun,      // this and higher values are classes: adjacent characters of one class are a piece
};

static_assert(static_cast<std::uint8_t>(Unit::kRun) == CharacterTable::kPlainUnit);

// Whether a space is inserted before a document (SentencePiece's dummy prefix).
enum class PrefixSpace : std::uint8_t {
    kNone,
    kAlways,       // before every document
    kUnlessSpace,  // unless the document starts with a space
};

struct Stages {
    PrefixSpace prefix_space = PrefixSpace::kNone;
    bool collapse = false;  // several spaces in a row become one
    bool trim = false;      // drops a space at the end of a text; no other chunk ends with one
    Origin origin = Origin::kOwn;
    // Each piece starts with a space that replaces the dropped spaces before it; it has the origin
    // of the next character.
    bool space_precedes_piece = false;
    // Runs the stages in Python on a chunk with context-sensitive characters. Appends the
    // concatenated pieces and the end of each.
    std::function<void(const std::uint8_t* chunk, std::size_t size,
                       std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends)>
        run_stages;
    // The same with the origins of all characters of the pieces, concatenated. `prefixed`: the
    // first byte of the chunk is an inserted space.
    std::function<void(const std::uint8_t* chunk, std::size_t size, bool prefixed,
                       std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends,
                       std::vector<ByteRange>& origins)>
        locate_stages;
};

class StageRunner {
 public:
    // A growing array of bytes, optimized for appending a few bytes at a time.
    class Piece {
     public:
        const std::uint8_t* data() const { return bytes_.data(); }
        std::size_t size() const { return size_; }
        // `size`: at most up to the space that room() made.
        void resize(std::size_t size) { size_ = size; }
        // Makes space for `count` more bytes and returns its start. Call resize() after writing.
        std::uint8_t* room(std::size_t count) {
            if (bytes_.size() - size_ < count) bytes_.resize(bytes_.size() * 2 + count);
            return bytes_.data() + size_;
        }
        void append(const std::uint8_t* bytes, std::size_t count) {
            std::uint8_t* place = room(count);
            size_ += count;
            // `count` is mostly 1 to 3, for which a loop is faster than a call of memcpy.
            for (std::size_t i = 0; i < count; ++i) place[i] = bytes[i];
        }
        void trim(std::size_t most) {
            size_ = 0;
            if (bytes_.capacity() > most) bytes_ = {};
        }

     private:
        std::vector<std::uint8_t> bytes_;
        std::size_t size_ = 0;
    };

    // Memory that is kept between calls. Each thread has its own.
    struct Buffers {
        Piece piece;
        std::vector<std::uint8_t> pieces;
        std::vector<std::size_t> ends;
    };

    // The normalized form of a character that becomes at most one character in any context.
    struct Single {
        std::array<std::uint8_t, 4> bytes;
        std::uint8_t size;
        Unit unit;
        bool is_single;  // false: it becomes more, or depends on its neighbours
    };

    StageRunner(std::shared_ptr<const CharacterTable> table,
                std::shared_ptr<const CutTable> cut_table, Stages stages);

    const CharacterTable& table() const { return *table_; }
    const std::shared_ptr<const CutTable>& cut_table() const { return cut_table_; }
    const Stages& stages() const { return stages_; }
    const std::array<Single, 128>& ascii() const { return ascii_; }
    // The class of the first ASCII character that has one (see Unit::kRun); kRemoved if none has.
    Unit run_of_ascii() const;

    bool is_context_sensitive(const std::uint8_t* chunk, std::size_t size) const;
    bool drops_characters(const std::uint8_t* chunk, std::size_t size) const;

    // Calls with_piece(bytes, size) for each piece of the chunk, from left to right.
    template <typename WithPiece>
    void for_each_piece(const std::uint8_t* chunk, std::size_t size, Buffers& buffers,
                        WithPiece with_piece) const {
        Piece& piece = buffers.piece;
        piece.resize(0);
        if (map_single_pieces(chunk, size, piece)) {
            if (piece.size() > 0) with_piece(piece.data(), piece.size());
            return;
        }
        if (!is_context_sensitive(chunk, size)) {
            NoOrigins origins;
            return make_pieces(chunk, size, piece, origins, with_piece);
        }
        buffers.pieces.clear();
        buffers.ends.clear();
        stages_.run_stages(chunk, size, buffers.pieces, buffers.ends);
        std::size_t start = 0;
        for (const std::size_t stop : buffers.ends) {
            with_piece(buffers.pieces.data() + start, stop - start);
            start = stop;
        }
    }

    // The same for a chunk without context-sensitive characters. `origins` records the origin of
    // each normalized character. `piece` must be empty.
    template <typename OriginRecorder, typename WithPiece>
    void make_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece,
                     OriginRecorder& origins, WithPiece with_piece) const;

 private:
    // Characters between two interruption points of a long chunk.
    static constexpr std::size_t kCharacters = std::size_t{1} << 16;

    Single single(std::uint32_t code) const;
    // Normalizes a chunk that consists of such single characters and is one piece. Returns false
    // for any other chunk. A fast path of make_pieces().
    bool map_single_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece) const;
    template <typename Test>
    bool any_row(const std::uint8_t* chunk, std::size_t size, Test test) const;

    std::shared_ptr<const CharacterTable> table_;
    std::shared_ptr<const CutTable> cut_table_;
    Stages stages_;
    std::array<Single, 128> ascii_;
};

template <typename OriginRecorder, typename WithPiece>
void StageRunner::make_pieces(const std::uint8_t* chunk, std::size_t size, Piece& piece,
                              OriginRecorder& origins, WithPiece with_piece) const {
    const auto flush = [&] {
        if (piece.size() == 0) return;
        with_piece(piece.data(), piece.size());
        piece.resize(0);
        origins.clear();
    };
    const auto append = [&](const std::uint8_t* unit) {
        origins.add(piece.size());
        piece.append(unit + 2, unit[1]);
    };
    CharacterTable::OwnUnit own;
    auto last = Unit::kRemoved;
    std::size_t space = 0;  // bytes of the space at the end of the piece, or 0
    InterruptionPoints<kCharacters> points;
    for (const std::uint8_t *p = chunk, *end = chunk + size; p < end;) {
        points.step();
        const utf8::Char c = utf8::decode(p, end);
        const auto start = static_cast<std::size_t>(p - chunk);
        origins.read(start, start + c.size);
        p += c.size;
        const std::uint32_t code = CharacterTable::code_of(c);
        const auto units = table_->units(code, own);
        const std::uint8_t* unit = units.data();
        for (const std::uint8_t* stop = unit + units.size(); unit < stop; unit += 2 + unit[1]) {
            const auto kind = static_cast<Unit>(unit[0]);
            const bool is_space = kind == Unit::kSpace || kind == Unit::kStart;
            if (stages_.collapse && is_space && space) {
                origins.leave_out();
                continue;
            }
            switch (kind) {
                case Unit::kRemoved:
                    flush();
                    break;
                case Unit::kAlone:
                    flush();
                    append(unit);
                    flush();
                    break;
                case Unit::kSpace:
                    append(unit);
                    break;
                default:
                    if (kind == Unit::kStart || (kind != last && last != Unit::kStart &&
                                                 last != Unit::kSpace && last >= Unit::kRun)) {
                        flush();
                    }
                    append(unit);
            }
            space = is_space ? unit[1] : 0;
            // A piece that a kStart has started continues, whatever the class.
            last = last == Unit::kStart && kind >= Unit::kRun ? Unit::kStart : kind;
        }
    }
    origins.finish(size);
    if (stages_.trim) piece.resize(piece.size() - space);
    flush();
}

}  // namespace toksmith

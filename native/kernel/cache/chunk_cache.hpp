// The cache of chunks and their ids, shared by all threads of a call. Bounded: a table that grows
// up to a limit, and a ring for what does not fit into its slots.
//
// Several threads read it and add to it without waiting for each other. It grows between calls; a
// caller that is alone also lets it grow between two batches of a text.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/answer.hpp"
#include "cache/chunk_arena.hpp"
#include "cache/chunk_lines.hpp"
#include "cache/distinct_estimate.hpp"
#include "ids.hpp"

namespace toksmith {

class ChunkCache {
 public:
    using Key = ChunkKey;

    static constexpr std::size_t kBytes = std::size_t{48}
                                          << 20;  // of memory, unless said otherwise
    // Longer chunks are rare and seldom come back; they are not kept.
    static constexpr std::size_t kLongest = 256;
    static constexpr std::size_t kMostIds = 255;  // more are not kept

    static constexpr std::size_t kFewestLines = std::size_t{1} << 12;
    static constexpr std::size_t kWordsPerLine = 4;  // of the arena
    static constexpr std::size_t kBytesPerLine = sizeof(ChunkLines::Line) +
                                                 sizeof(ChunkLines::Line) / ChunkLines::kSharing +
                                                 kWordsPerLine * sizeof(Id);

    // Takes at most so many bytes, or a little where that is less than the least of 384 KiB.
    // `text`: the first one has so many bytes; if that is short, others may not come.
    explicit ChunkCache(std::size_t bytes = kBytes, std::size_t text = 0)
        : lines_(kFewestLines,
                 std::clamp(std::bit_floor(bytes / kBytesPerLine), kFewestLines, kMostLines),
                 small_lines(text)),
          arena_(lines_.most() * kWordsPerLine, small_lines(text) * kWordsPerLine) {}

    // Before a text of so many bytes that so many threads encode; nobody uses the cache now.
    void begin(std::size_t bytes, std::size_t threads) {
        alone_ = threads == 1;
        wants_room_ = false;
        if (refused_ > kMostRefused * lines_.size()) clear();
        distinct_ = DistinctEstimate(bytes, added_);
        const std::size_t room = alone_ ? std::bit_floor(std::min(bytes / kBytesPerChunk, kMany))
                                        : std::bit_ceil(DistinctEstimate(bytes).in_all());
        const std::size_t twice = is_dense() ? 2 * lines_.size() : 0;
        const std::size_t lines = std::min(std::max(room, twice), lines_.most());
        if (lines > lines_.size()) grow(lines);
    }

    // That are in use now.
    std::size_t lines() const { return lines_.size(); }

    class User;

 private:
    static constexpr std::size_t kMostLines = std::size_t{1} << 29;
    static constexpr std::size_t kMany = std::size_t{1} << 13;  // lines
    // Of text, at least, that bring a new one.
    static constexpr std::size_t kBytesPerChunk = 16;
    // When so many chunks a line have found no room, the table is cleared.
    static constexpr std::size_t kMostRefused = 4;
    // A caller that is alone makes the table so many times as large, at least; but not if the text
    // is nearly over, and will fill one more line of so many.
    static constexpr std::size_t kGrowth = 4, kLittle = 4;

    static std::size_t small_lines(std::size_t text) {
        return text < kFewestLines * kBytesPerChunk ? kFewestLines : 0;
    }

    // Whether more than a few of the chunks stand in shared lines.
    bool is_dense() const { return added_ > lines_.size() / 4 * 3; }
    bool may_grow() const { return added_ > lines_.size() && lines_.size() < lines_.most(); }
    // Makes room for the rest of the text, of which so many bytes are read.
    void make_room(std::size_t read) {
        wants_room_ = false;
        const std::size_t lines = lines_.size(), expected = distinct_.in_all(added_, read);
        if (expected > added_ && expected < lines + lines / kLittle) return;
        const std::size_t room = lines < kMany ? 0 : std::bit_ceil(expected);
        grow(std::clamp(room, std::min(kGrowth * lines, lines_.most()), lines_.most()));
    }
    void grow(std::size_t lines) {
        lines_.ask_for_pages(lines);
        lines_.grow(lines);
        refused_ = 0;
    }
    void clear() {
        lines_.clear(kFewestLines);
        arena_.clear();
        added_ = refused_ = 0;
    }

    // What all look at, and is seldom changed.
    ChunkLines lines_;
    ChunkArena arena_;
    bool alone_ = true;
    bool wants_room_ = false;  // of a thread alone
    DistinctEstimate distinct_;
    // Updated every now and then.
    alignas(64) std::atomic<std::size_t> added_{0}, refused_{0};
};

// What one thread uses it by, for as long as it has a Turn.
class ChunkCache::User {
 public:
    explicit User(ChunkCache& cache) : cache_(cache) {}

    class Turn {
     public:
        explicit Turn(User& user) : user_(user) { user_.join(); }
        ~Turn() { user_.leave(); }
        Turn(const Turn&) = delete;
        Turn& operator=(const Turn&) = delete;

     private:
        User& user_;
    };

    ChunkLines::FirstLines first_lines() const { return first_lines_; }
    void prefetch_first(const Key& key) const { cache_.lines_.prefetch_first(key); }
    void prefetch_shared(const Key& key) const { cache_.lines_.prefetch_shared(key); }
    ChunkLines::Near near(const Key& key) const { return cache_.lines_.near(key); }

    // What any chunk became; no ids if it is not known. Valid until the next look-up, or read().
    Found look_up(const Key& key, const std::uint8_t* p, std::size_t size) {
        const ChunkLines::Search search = cache_.lines_.search(key);
        if (search.end != ChunkLines::End::kThere) return {};
        const Answer& answer = search.answer();
        if (!search.is_outside()) {
            if (answer.is_plain()) return {answer.words, answer.count(), answer.note()};
            answer.unpack(unpacked_.data());
            return {unpacked_.data(), answer.count(), answer.note()};
        }
        if (cache_.arena_.is_gone(answer.place())) return {};
        const Id* stored = cache_.arena_.at(answer.place());
        if (size > Key::kInline) {
            if (std::memcmp(stored, p, size) != 0) return {};
            stored += text_words(size);
        }
        return {stored, answer.count(), answer.note()};
    }

    // Keeps what the chunk became, unless it or that is too long, or there is no room.
    void insert(const Key& key, const std::uint8_t* p, std::size_t size, const Found& found) {
        if (size > kLongest || found.count > kMostIds) return;
        switch (keep(key, p, size, found)) {
            case Kept::kAdded:
                ++added_;
                break;
            case Kept::kPresent:  // another thread was first
                return;
            case Kept::kFull:
                ++refused_;
                break;
        }
        if (added_ + refused_ < kOften) return;
        tell();
        if (cache_.alone_) cache_.wants_room_ = cache_.may_grow();
    }
    // Between two batches, when so many bytes more are read: what was found before is no longer in
    // use.
    void read(std::size_t bytes) {
        read_ += bytes;
        if (!cache_.wants_room_) [[likely]]
            return;
        cache_.make_room(read_);
        first_lines_ = cache_.lines_.first_lines();
    }

 private:
    static constexpr std::size_t kOften = 64;

    void join() {
        first_lines_ = cache_.lines_.first_lines();
        read_ = 0;
    }
    void leave() { tell(); }
    void tell() {
        tell(cache_.added_, added_);
        tell(cache_.refused_, refused_);
    }
    void tell(std::atomic<std::size_t>& sum, std::size_t& more) const {
        constexpr auto kRelaxed = std::memory_order_relaxed;
        if (cache_.alone_) {
            sum.store(sum.load(kRelaxed) + more, kRelaxed);
        } else {
            sum.fetch_add(more, kRelaxed);
        }
        more = 0;
    }

    static std::size_t text_words(std::size_t size) { return (size + sizeof(Id) - 1) / sizeof(Id); }
    using Kept = ChunkLines::Kept;
    Kept keep(const Key& key, const std::uint8_t* p, std::size_t size, const Found& found) {
        const bool alone = cache_.alone_;
        if (size <= Key::kInline && Answer::fits(found)) {
            return cache_.lines_.fill(key, false, alone,
                                      [&](Answer& answer) { answer.set(found); });
        }
        if (!alone) {
            const ChunkLines::End end = cache_.lines_.search(key).end;
            if (end != ChunkLines::End::kFree) return ChunkLines::not_added(end);
        }
        const std::size_t text = size > Key::kInline ? text_words(size) : 0;
        const auto place = cache_.arena_.room(text + found.count, alone);
        if (!place) return Kept::kFull;
        Id* const stored = cache_.arena_.at(*place);
        if (text) std::memcpy(stored, p, size);
        std::copy_n(found.ids, found.count, stored + text);
        return cache_.lines_.fill(key, true, alone, [&](Answer& answer) {
            answer.set_tail(found.count, found.note);
            answer.set_place(*place);
        });
    }

    ChunkCache& cache_;
    ChunkLines::FirstLines first_lines_ = cache_.lines_.first_lines();
    std::size_t added_ = 0, refused_ = 0;        // that have not been told
    std::size_t read_ = 0;                       // bytes of the text
    std::array<Id, Answer::kMostIds> unpacked_;  // of the last look-up
};

}  // namespace toksmith

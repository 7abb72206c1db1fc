// What each chunk became, for the chunks met lately, by all threads of a call. Bounded: a table
// that grows up to a limit, and a ring for what does not fit into its slots.
//
// Several threads read it and add to it without waiting for each other. Now and then it has to
// grow, or is full: then all of them pause, and one makes room.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <bit>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <mutex>
#include <optional>

#include "cache/answer.hpp"
#include "cache/chunk_arena.hpp"
#include "cache/chunk_lines.hpp"
#include "cache/new_chunks.hpp"
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

    // A text of so many bytes comes, for so many threads; nobody uses the cache now. There is room
    // at once for some, and when it has brought many, for as many as it may bring: to double again
    // and again takes longer. What earlier texts have filled too far grows now.
    void begin(std::size_t bytes, std::size_t threads) {
        alone_ = threads == 1;
        const std::size_t some = std::min(std::bit_floor(bytes / kBytesPerChunk), kMany);
        const std::size_t twice = is_dense() ? 2 * lines_.size() : 0;
        const std::size_t lines = std::min(std::max(some, twice), lines_.most());
        if (lines > lines_.size()) {
            if (twice) lines_.ask_for_pages(lines);
            lines_.grow(lines);
        }
        new_chunks_ = {bytes, added_};
        read_.store(0, std::memory_order_relaxed);
        next_pause_.store(0, std::memory_order_relaxed);
        is_prepared_.store(false, std::memory_order_relaxed);
        wants_pause_.store(false, std::memory_order_relaxed);
    }

    // That are in use now.
    std::size_t lines() const { return lines_.size(); }

    class User;

 private:
    static constexpr std::size_t kMostLines = std::size_t{1} << 29;
    static constexpr std::size_t kMany = std::size_t{1} << 13;  // lines
    // Of text, at least, that bring a new one.
    static constexpr std::size_t kBytesPerChunk = 16;
    // A text that will have brought little more than there are lines, one for so many, is nearly
    // over.
    static constexpr std::size_t kLittle = 4;
    // When so many chunks a line have found no room, the table is cleared.
    static constexpr std::size_t kMostRefused = 4;
    // A thread that is busy with a long chunk is not waited for; others try again when they have
    // taken so many bytes more.
    static constexpr std::chrono::microseconds kPatience{500};
    static constexpr std::size_t kBetweenPauses = std::size_t{1} << 20;

    static std::size_t small_lines(std::size_t text) {
        return text < kFewestLines * kBytesPerChunk ? kFewestLines : 0;
    }

    // Whether more than a few of the chunks stand in shared lines.
    bool is_dense() const { return added_ > lines_.size() / 4 * 3; }
    bool may_grow() const { return added_ > lines_.size() && lines_.size() < lines_.most(); }
    bool is_full() const { return refused_ > kMostRefused * lines_.size(); }

    // Whether it is time for a pause. One of the threads prepares it.
    void check() {
        const bool is_time = (may_grow() || is_full()) && read_ >= next_pause_;
        if (!is_time || is_prepared_.exchange(true)) return;
        // Until the pause that this thread wants now, no other thread gets here, and none makes
        // room, since this one does not pause: nothing below is looked at by others.
        if (prepare()) {
            wants_pause_.store(true, std::memory_order_release);
        } else {
            is_prepared_.store(false, std::memory_order_release);
        }
    }
    // False: it is not worth a pause.
    bool prepare() {
        next_lines_ = 0;
        if (!may_grow()) return true;
        const std::size_t lines = lines_.size(), expected = new_chunks_.in_all(added_, read_);
        if (new_chunks_.go_on(read_) && expected < lines + lines / kLittle) return false;
        const std::size_t room = lines < kMany ? 0 : std::bit_ceil(expected);
        next_lines_ = std::clamp(room, lines * 4, lines_.most());
        lines_.ask_for_pages(next_lines_);  // takes long: other threads go on
        return true;
    }
    // By a thread that looks at nothing in the cache now.
    void pause() {
        if (alone_) {
            make_room();
            return end_pause();
        }
        std::unique_lock lock(guard_);
        if (!wants_pause_) return;  // it is over
        const std::uint64_t number = pauses_;
        ++pausing_;
        if_all_pause();
        if (over_.wait_for(lock, kPatience, [&] { return pauses_ != number; })) return;
        next_pause_ = read_ + kBetweenPauses;
        end_pause();
    }
    void if_all_pause() {
        if (!wants_pause_ || pausing_ < users_) return;
        if (users_ != 0) make_room();
        end_pause();
    }
    // For all who wait in it, whether there is room now or one of them has lost its patience. With
    // the lock, unless alone: so it ends the pause that its caller is in, and never a later one.
    void end_pause() {
        pausing_ = 0;
        ++pauses_;
        wants_pause_.store(false, std::memory_order_relaxed);
        // Last: then another one may be prepared.
        is_prepared_.store(false, std::memory_order_release);
        over_.notify_all();
    }
    // When nobody looks at it.
    void make_room() {
        if (next_lines_ != 0) {
            lines_.grow(next_lines_);
        } else {
            lines_.clear(kFewestLines);
            arena_.clear();
            added_ = 0;
        }
        refused_ = 0;
    }

    // What all look at, and is seldom changed.
    ChunkLines lines_;
    ChunkArena arena_;
    bool alone_ = true;
    std::atomic<bool> wants_pause_{false};
    // What is told every now and then.
    alignas(64) std::atomic<std::size_t> added_{0}, refused_{0};
    std::atomic<std::size_t> read_{0};        // of the text
    std::atomic<std::size_t> next_pause_{0};  // not before so much of it
    std::atomic<bool> is_prepared_{false};    // or is being
    std::size_t next_lines_ = 0;              // behind it; 0: nothing is kept
    NewChunks new_chunks_;

    std::mutex guard_;  // of what follows
    std::condition_variable over_;
    std::size_t users_ = 0, pausing_ = 0;
    std::uint64_t pauses_ = 0;  // that are over: the number of the next one
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
    // Of a long chunk, if it stands in its first line.
    void prefetch_text(const ChunkLines::Line& line, const Key& key) const {
        if (const Answer* const answer = ChunkLines::find_outside(line, key))
            __builtin_prefetch(cache_.arena_.at(answer->place()));
    }
    ChunkLines::Near near(const Key& key) const { return cache_.lines_.near(key); }

    // What any chunk became; no ids if it is not known. Valid until the next look-up, or read().
    Found look_up(const Key& key, const std::uint8_t* p, std::size_t size) {
        ChunkLines::Search search = cache_.lines_.search(key);
        if (search.end != ChunkLines::End::kThere) return {};
        if (cache_.alone_) search = cache_.lines_.moved_near(search);
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
        cache_.check();
    }
    // So many bytes of the text have been taken.
    void read(std::size_t bytes) {
        read_ += bytes;
        if (cache_.wants_pause_.load(std::memory_order_relaxed)) [[unlikely]]
            pause();
    }

 private:
    static constexpr std::size_t kOften = 64;

    // A short text takes little longer than what keeps others off: a thread alone does without.
    void join() {
        if (!cache_.alone_) {
            const std::scoped_lock lock(cache_.guard_);
            ++cache_.users_;
        }
        cache_.check();
        first_lines_ = cache_.lines_.first_lines();
    }
    void leave() {
        tell();
        if (cache_.alone_) return;
        const std::scoped_lock lock(cache_.guard_);
        --cache_.users_;
        cache_.if_all_pause();
    }
    void tell() {
        tell(cache_.added_, added_);
        tell(cache_.refused_, refused_);
        tell(cache_.read_, read_);
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

    [[gnu::noinline]] void pause() {
        tell();
        cache_.pause();
        first_lines_ = cache_.lines_.first_lines();
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
    std::size_t added_ = 0, refused_ = 0, read_ = 0;  // that have not been told
    std::array<Id, Answer::kMostIds> unpacked_;       // of the last look-up
};

}  // namespace toksmith

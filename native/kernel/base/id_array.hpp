// A growing array of token ids whose memory can be passed to NumPy without a copy.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/pages.hpp"
#include "base/stop.hpp"

namespace toksmith {

using Id = std::uint32_t;

// The pages of a large array are populated shortly before they are written.
class IdArray {
 public:
    IdArray() = default;
    IdArray(IdArray&& other) noexcept { swap(other); }
    IdArray& operator=(IdArray&& other) noexcept {
        swap(other);
        return *this;
    }
    IdArray(const IdArray&) = delete;
    IdArray& operator=(const IdArray&) = delete;
    ~IdArray() { std::free(data_); }

    Id* data() { return data_; }
    const Id* data() const { return data_; }
    std::size_t size() const { return size_; }
    std::size_t capacity() const { return capacity_; }
    std::size_t touched() const { return touched_; }
    void clear() { size_ = 0; }
    // Sets the size, which is at most the capacity. The caller has written all of these ids.
    void resize(std::size_t size) {
        size_ = size;
        touched_ = std::max(touched_, size);
    }

    void push(Id id) {
        *room(1) = id;
        ++size_;
    }
    void append(const Id* ids, std::size_t count) {
        Id* place = extend(count);
        // `count` is mostly 1 to 3, for which a loop is faster than a call of memcpy.
        for (std::size_t i = 0; i < count; ++i) place[i] = ids[i];
    }
    // Allocates address space only: untouched memory takes no pages.
    void reserve(std::size_t capacity) {
        if (capacity > capacity_) resize_memory(capacity);
    }
    // Makes room for `count` more ids and returns where they start. Does not change the size.
    Id* room(std::size_t count) {
        if (size_ + count > touched_) prepare(size_ + count);
        return data_ + size_;
    }
    // Makes room for `count` more ids, adds them to the size, and returns where to write them.
    Id* extend(std::size_t count) {
        Id* place = room(count);
        size_ += count;
        return place;
    }
    // Populates the pages of ids that are about to be written. Several threads may call it.
    void populate(std::size_t first, std::size_t last) {
        if (capacity_ > kLarge) warmer_.populate(data_ + first, data_ + last);
    }
    // The end of the range to populate so that ids [first, last) are there: if a huge page starts
    // inside the range, it is populated as a whole.
    std::size_t end_of_pages(std::size_t first, std::size_t last) const {
        if (first >= capacity_) return capacity_;
        last = std::min(last, capacity_);
        return std::min(huge_from(first) < last ? huge_from(last) : last, capacity_);
    }
    // Releases the pages after the last id.
    void trim() {
        if (touched_ < size_ + 2 * kStep) return;
        pages::release(data_ + size_, data_ + touched_);
        touched_ = size_;
    }

 private:
    static constexpr std::size_t kStep = std::size_t{1}
                                         << 16;  // ids whose pages are populated at a time
    static constexpr std::size_t kLarge = 4 * kStep;
    struct Free {
        void operator()(Id* data) const { std::free(data); }
    };

    void swap(IdArray& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
        std::swap(touched_, other.touched_);
        std::swap(warmer_, other.warmer_);
    }
    [[gnu::noinline]] void prepare(std::size_t needed) {
        if (needed > capacity_) resize_memory(std::max(needed, capacity_ + capacity_ / 2 + 16));
        const std::size_t start = touched_;
        touched_ = end_of_pages(start, needed + kStep);
        populate(start, touched_);
    }
    // The index of the first id at or after `place` that lies at the start of a huge page.
    std::size_t huge_from(std::size_t place) const {
        return place + pages::before_huge(data_ + place) / sizeof(Id);
    }
    void resize_memory(std::size_t capacity) {
        if (capacity_ > kLarge) return move_to(capacity);
        auto* data = static_cast<Id*>(std::realloc(data_, capacity * sizeof(Id)));
        if (!data) throw std::bad_alloc();
        set_memory(data, capacity);
    }
    // Copies a large array in parts. realloc() would copy it too, since madvise() has split its
    // mapping, but without an interruption point.
    void move_to(std::size_t capacity) {
        std::unique_ptr<Id, Free> moved(static_cast<Id*>(std::malloc(capacity * sizeof(Id))));
        if (!moved) throw std::bad_alloc();
        for (std::size_t done = 0; done < touched_; done += kLarge) {
            interruption_point();
            const std::size_t count = std::min(kLarge, touched_ - done);
            std::memcpy(moved.get() + done, data_ + done, count * sizeof(Id));
        }
        std::free(data_);
        set_memory(moved.release(), capacity);
    }
    void set_memory(Id* data, std::size_t capacity) {
        data_ = data;
        capacity_ = capacity;
        if (capacity_ > kLarge)
            warmer_ = pages::PageWarmer(data_ + touched_, (capacity_ - touched_) * sizeof(Id));
    }

    Id* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
    std::size_t touched_ = 0;   // ids that can be written without a page fault
    pages::PageWarmer warmer_;  // populates the pages of the remaining ids, if the array is large
};

}  // namespace toksmith

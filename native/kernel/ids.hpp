// A growing array of token ids whose memory can be handed over without a copy.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>
#include <utility>

#include "huge_array.hpp"

namespace toksmith {

using Id = std::uint32_t;

class Ids {
 public:
    Ids() = default;
    Ids(Ids&& other) noexcept { swap(other); }
    Ids& operator=(Ids&& other) noexcept {
        swap(other);
        return *this;
    }
    Ids(const Ids&) = delete;
    Ids& operator=(const Ids&) = delete;
    ~Ids() { std::free(data_); }

    Id* data() { return data_; }
    const Id* data() const { return data_; }
    std::size_t size() const { return size_; }
    void clear() { size_ = 0; }
    void resize(std::size_t size) { size_ = size; }  // to at most as many as there is room for

    void push(Id id) {
        if (size_ == capacity_) grow(size_ + 1);
        data_[size_++] = id;
    }
    void append(const Id* ids, std::size_t count) {
        Id* place = extend(count);
        // Mostly one to three: a loop is quicker than a call.
        for (std::size_t i = 0; i < count; ++i) place[i] = ids[i];
    }
    void reserve(std::size_t capacity) {
        if (capacity > capacity_) resize_memory(capacity);
    }
    // Makes room for `count` more ids without counting them in, and returns where they go.
    Id* room(std::size_t count) {
        if (capacity_ - size_ < count) grow(size_ + count);
        return data_ + size_;
    }
    // Makes room for `count` more ids, counts them in, and returns where to write them.
    Id* extend(std::size_t count) {
        Id* place = room(count);
        size_ += count;
        return place;
    }
    // Gives the memory (from malloc) to the caller.
    Id* release() {
        Id* data = data_;
        data_ = nullptr;
        size_ = capacity_ = 0;
        return data;
    }

 private:
    void swap(Ids& other) noexcept {
        std::swap(data_, other.data_);
        std::swap(size_, other.size_);
        std::swap(capacity_, other.capacity_);
    }
    void grow(std::size_t least) {
        const std::size_t doubled = capacity_ + capacity_ / 2 + 16;
        resize_memory(least > doubled ? least : doubled);
    }
    void resize_memory(std::size_t capacity) {
        auto* data = static_cast<Id*>(std::realloc(data_, capacity * sizeof(Id)));
        if (!data) throw std::bad_alloc();
        data_ = data;
        capacity_ = capacity;
        ask_for_huge_pages(data, capacity * sizeof(Id));
    }

    Id* data_ = nullptr;
    std::size_t size_ = 0;
    std::size_t capacity_ = 0;
};

}  // namespace toksmith

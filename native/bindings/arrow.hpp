// The structures of Arrow's C data and C stream interfaces, as their specification defines them:
// https://arrow.apache.org/docs/format/CDataInterface.html
#pragma once

#include <cstdint>
#include <utility>

namespace toksmith::bindings::arrow {

struct Schema {
    const char* format;
    const char* name;
    const char* metadata;
    std::int64_t flags;
    std::int64_t n_children;
    Schema** children;
    Schema* dictionary;
    void (*release)(Schema*);
    void* private_data;
};

struct Array {
    std::int64_t length;
    std::int64_t null_count;
    std::int64_t offset;
    std::int64_t n_buffers;
    std::int64_t n_children;
    const void** buffers;
    Array** children;
    Array* dictionary;
    void (*release)(Array*);
    void* private_data;
};

struct Stream {
    int (*get_schema)(Stream*, Schema*);
    int (*get_next)(Stream*, Array*);
    const char* (*get_last_error)(Stream*);
    void (*release)(Stream*);
    void* private_data;
};

// Owns one of these structures. A null `release` marks one that is empty or was moved from.
template <typename Structure>
class Owned {
 public:
    Owned() = default;
    explicit Owned(Structure* from) : held_(*from) { from->release = nullptr; }
    Owned(Owned&& other) noexcept : held_(std::exchange(other.held_, {})) {}
    Owned(const Owned&) = delete;
    Owned& operator=(const Owned&) = delete;
    ~Owned() {
        if (held_.release) held_.release(&held_);
    }

    bool is_empty() const { return held_.release == nullptr; }
    Structure* get() { return &held_; }
    Structure* operator->() { return &held_; }
    const Structure& operator*() const { return held_; }

 private:
    Structure held_{};
};

}  // namespace toksmith::bindings::arrow

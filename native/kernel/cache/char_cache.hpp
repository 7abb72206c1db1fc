// The ids of single characters that are chunks: characters of three bytes, as in scripts with
// thousands of characters, and ASCII characters between them. Entries are found by code point,
// without hashing or comparing. Several threads may use the cache at once: entries are write-once.
#pragma once

#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "base/huge_page_array.hpp"
#include "cache/entry.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

class CharCache {
 public:
    static constexpr std::size_t kSize = 3;  // bytes of a multibyte character

    // Whether the four bytes at p may start with a character of three bytes.
    static bool may_be_at(const std::uint8_t* p) {
        std::uint32_t bytes;
        std::memcpy(&bytes, p, sizeof bytes);
        static_assert(std::endian::native == std::endian::little);
        // Three bytes below U+0800 are overlong, so invalid UTF-8; their code could be that of
        // another character.
        return (bytes & 0xC0C0F0) == 0x8080E0 && (bytes & 0x200F) != 0;
    }

    // Characters are numbered in order of arrival, so the entries of frequent ones are adjacent.
    using Number = std::uint16_t;  // 0: the character is not in the cache

    class Numbers {
     public:
        explicit Numbers(Number* by_code) : by_code_(by_code) {}
        // The number of the three-byte character at p, and of an ASCII character.
        Number of(const std::uint8_t* p) const { return at(utf8::code_of_three(p)); }
        Number of_ascii(std::uint8_t byte) const { return at(byte); }

     private:
        friend CharCache;
        Number at(std::size_t code) const {
            return std::atomic_ref(by_code_[code]).load(std::memory_order_acquire);
        }
        Number* by_code_;
    };
    Numbers numbers() const { return Numbers(numbers_.data()); }

    const CacheEntry* entries() const { return entries_.data(); }  // by number

    void insert(const std::uint8_t* p, const LookupResult& found) {
        const std::size_t code = *p < 0x80 ? *p : utf8::code_of_three(p);
        if (!CacheEntry::fits(found) || numbers().at(code) != 0) return;
        const std::uint32_t number = count_.fetch_add(1, std::memory_order_relaxed) + 1;
        if (number >= kCodes) return;  // only after races of threads on the same characters
        entries_.data()[number].set(found);
        Number none = 0;
        std::atomic_ref(numbers_.data()[code])
            .compare_exchange_strong(none, static_cast<Number>(number), std::memory_order_release,
                                     std::memory_order_relaxed);
    }

 private:
    static constexpr std::size_t kCodes = 0x10000;  // an upper bound of the number of characters

    std::atomic<std::uint32_t> count_{0};
    HugePageArray<Number> numbers_{kCodes};      // by code point
    HugePageArray<CacheEntry> entries_{kCodes};  // untouched pages take no memory
};

}  // namespace toksmith

// What characters of three bytes became that stand alone, as most do in scripts of thousands of
// characters, of which a vocabulary has few words; and those of ASCII between them. Found by
// number, without hash and comparison.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>

#include "cache/chunk_cache.hpp"
#include "huge_array.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

class SingleCache {
 public:
    using Answer = ChunkCache::Answer;

    static constexpr std::size_t kSize = 3;  // of a character, in bytes

    // Whether what is at p may be one. Reads four bytes.
    static bool may_be_at(const std::uint8_t* p) {
        std::uint32_t bytes;
        std::memcpy(&bytes, p, sizeof bytes);
        static_assert(std::endian::native == std::endian::little);
        return (bytes & 0xC0C0F0) == 0x8080E0;
    }

    // Characters are numbered as they are met, so that those that come often lie side by side.
    using Number = std::uint16_t;  // 0: not known

    // Of the one of three bytes at p; of one of ASCII.
    Number number(const std::uint8_t* p) const { return numbers_.data()[utf8::code_of_three(p)]; }
    Number number_of_ascii(std::uint8_t byte) const { return numbers_.data()[byte]; }
    const Answer& answer(Number number) const { return answers_.data()[number]; }

    void insert(const std::uint8_t* p, const ChunkCache::Found& found) {
        Answer answer{};
        if (!answer.set(found)) return;
        Number& number = numbers_.data()[*p < 0x80 ? *p : utf8::code_of_three(p)];
        if (number == 0) number = ++count_;
        answers_.data()[number] = answer;
    }

 private:
    static constexpr std::size_t kCodes = 0x10000;  // more than there are such characters

    Number count_ = 0;
    HugeArray<Number> numbers_{kCodes};  // by code
    HugeArray<Answer> answers_{kCodes};  // of which untouched pages take nothing
};

}  // namespace toksmith

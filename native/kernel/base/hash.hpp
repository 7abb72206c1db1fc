// Hashing of short byte strings and integers.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>

namespace toksmith {

inline std::uint64_t mix(std::uint64_t a, std::uint64_t b) {
#if defined(__SIZEOF_INT128__)
    __extension__ using Wide = unsigned __int128;
    const Wide product = static_cast<Wide>(a) * b;
    return static_cast<std::uint64_t>(product) ^ static_cast<std::uint64_t>(product >> 64);
#else
    std::uint64_t x = a ^ (b * 0x9E3779B97F4A7C15ULL);
    x ^= x >> 32;
    x *= 0xD6E8FEB86659FD93ULL;
    x ^= x >> 32;
    return x * 0xD6E8FEB86659FD93ULL ^ a;
#endif
}

// Seeds drawn at random once per process, so that nobody can craft a file or a text whose hashes
// collide. Nothing that is saved or shown depends on them.
struct HashSeed {
    std::uint64_t low, high;

    static HashSeed draw() {
        std::random_device device;
        const auto word = [&] { return std::uint64_t{device()} << 32 | device(); };
        return {word(), word() | 1};
    }
};
inline const HashSeed kHashSeed = HashSeed::draw();

// XORs the inputs into the product: if one factor is 0, the product alone would discard the other.
inline std::uint64_t hash_words(std::uint64_t low, std::uint64_t high) {
    return mix(low ^ kHashSeed.low, high ^ kHashSeed.high) ^ low ^ std::rotl(high, 32);
}

inline std::uint64_t hash_word(std::uint64_t word) {
    return mix(word ^ kHashSeed.low, kHashSeed.high);
}

inline std::uint64_t hash_bytes(const std::uint8_t* p, std::size_t size) {
    std::uint64_t hash = size * 0x9E3779B97F4A7C15ULL;
    while (size >= 8) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        hash = hash_words(hash, word);
        p += 8;
        size -= 8;
    }
    std::uint64_t word = 0;
    if (size) std::memcpy(&word, p, size);
    return hash_words(hash, word);
}

}  // namespace toksmith

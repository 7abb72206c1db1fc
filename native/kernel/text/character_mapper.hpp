// Rewrites a text character by character, for byte-level models after a normalizer.
//
// The kernel holds no normalization rules: Python describes each block of 64 characters when a text
// first contains one of it. A character is kept, or replaced by a fixed text, or *bound*: its form
// and that of the character before it depend on both. A character and the bound ones after it are a
// stretch, which Python rewrites as a whole; the results are kept, since most stretches repeat.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "text/text.hpp"
#include "utf8/decode.hpp"

namespace toksmith {

class CharacterMapper {
 public:
    using Byte = utf8::Byte;

    static constexpr std::uint32_t kBlock = 64;  // characters
    static constexpr std::uint32_t kBlocks = 0x110000 / kBlock;

    enum class Kind : std::uint8_t { kKept, kReplaced, kBound };

    struct Block {
        bool all_kept = true;
        std::array<Kind, kBlock> kinds{};
        std::array<std::uint32_t, kBlock + 1> begins{};  // of the new text of each character
        std::string text;
    };

    // Returns the block of a number.
    using DescribeBlock = std::function<std::unique_ptr<const Block>(std::uint32_t)>;
    using Rewrite = std::function<std::string(std::string_view stretch)>;

    CharacterMapper(DescribeBlock describe_block, Rewrite rewrite);
    CharacterMapper(const CharacterMapper&) = delete;
    CharacterMapper& operator=(const CharacterMapper&) = delete;
    ~CharacterMapper();

    // Writes the new text to `out`, which must be empty. Returns false, and writes nothing, if the
    // text does not change. Bytes of invalid UTF-8 are kept.
    bool map(Text text, std::vector<Byte>& out) const;

 private:
    static constexpr std::size_t kLongest = 64;  // bytes of a stretch that is remembered
    static constexpr std::size_t kMost = std::size_t{1} << 16;  // remembered stretches

    const Block& block_of(std::uint32_t code) const;
    std::string rewritten(std::string_view stretch) const;
    // The end of the bound characters at p.
    const Byte* bound_end(const Byte* p, const Byte* end) const;

    DescribeBlock describe_block_;
    Rewrite rewrite_;
    bool keeps_ascii_;
    mutable std::array<std::atomic<const Block*>, kBlocks> blocks_{};
    mutable std::mutex mutex_;
    mutable std::unordered_map<std::string, std::string> stretches_;
};

}  // namespace toksmith

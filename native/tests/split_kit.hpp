// Small split tables, and slow implementations of what they split.
#pragma once

#include <algorithm>

#include "kit.hpp"
#include "split/splitter.hpp"

namespace toksmith::test {

inline constexpr SplitTable::Action kEndsHere = 1 << 7;

// Chunks are runs of `member` and runs of all other characters. A run of characters beyond ASCII
// may be cut further.
inline SplitTable runs_of(std::uint32_t member) {
    const std::uint32_t starts[] = {0, member, member + 1};
    const std::uint8_t classes[] = {0, 1, 0};
    const std::uint16_t next[] = {1, 2, 1, 2, 1, 2};
    const SplitTable::Action actions[] = {0,         0,         0, SplitTable::kFree, kEndsHere,
                                          kEndsHere, kEndsHere, 0, kEndsHere};
    return SplitTable(starts, classes, next, actions, {0b10, 0b01});
}

inline std::vector<std::uint64_t> ends_by_tables(const Splitter& splitter, isa::Level level,
                                                 Text text) {
    std::vector<std::uint64_t> result;
    find_by_tables_of(level)(
        *splitter.tables, text, [&](const std::uint8_t* const* ends, std::size_t count) {
            for (std::size_t i = 0; i < count; ++i)
                result.push_back(static_cast<std::uint64_t>(ends[i] - text.begin));
        });
    return result;
}

enum Kind : std::uint8_t { kSmall, kBlank, kLine, kWide };

// Chunks are runs of characters below U+3000 that are not white space, runs of all others and of
// invalid bytes, and runs of blanks and line breaks, which are cut after their last line break.
inline SplitTable lines() {
    const std::uint32_t starts[] = {0, '\n', '\n' + 1, ' ', ' ' + 1, 0x3000};
    const std::uint8_t classes[] = {kSmall, kLine, kSmall, kBlank, kSmall, kWide};
    // The place after the last line break is in the register after more blanks than actions reach.
    constexpr std::uint16_t kStart = 0, kInSmall = 1, kInWide = 2, kInBlanks = 3, kAfterLine = 4,
                            kInRegister = kAfterLine + SplitTable::kMostBack,
                            kStates = kInRegister + 1;
    std::vector<std::uint16_t> next;
    std::vector<SplitTable::Action> actions;
    for (std::uint16_t state = kStart; state < kStates; ++state) {
        const bool after_line = state >= kAfterLine;
        const bool blank = after_line || state == kInBlanks;
        const auto after_blank = static_cast<std::uint16_t>(
            after_line ? std::min<int>(state + 1, kInRegister) : kInBlanks);
        next.insert(next.end(), {kInSmall, after_blank, kAfterLine, kInWide});
        SplitTable::Action line = 0;
        if (after_line && state < kInRegister) line = kEndsHere >> (state - kAfterLine);
        if (state == kInRegister) line = SplitTable::kEndAtRegister;
        const SplitTable::Action here = state == kStart ? 0 : kEndsHere;
        const auto after = static_cast<SplitTable::Action>(here | line);
        const bool marks = state == kInRegister - 1;
        const SplitTable::Action on_blank = blank ? (marks ? SplitTable::kMark : 0) : here;
        actions.push_back(state == kInSmall ? 0 : after);
        actions.push_back(on_blank);
        actions.push_back(blank ? 0 : here);
        actions.push_back(state == kInWide ? 0 : after);
        actions.push_back(after);
    }
    return SplitTable(starts, classes, next, actions, {0, 0, 0, 0});
}

inline std::vector<std::uint64_t> ends_of_lines(Text text) {
    std::vector<std::uint64_t> result;
    const std::uint8_t* p = text.begin;
    const auto kind_at = [&](const std::uint8_t* q) {
        const std::uint32_t code = utf8::decode(q, text.end).code;
        return code == ' ' ? kBlank : code == '\n' ? kLine : code < 0x3000 ? kSmall : kWide;
    };
    while (p < text.end) {
        const Kind kind = kind_at(p);
        const bool blank = kind == kBlank || kind == kLine;
        const std::uint8_t* after_line = nullptr;
        for (; p < text.end; p += utf8::decode(p, text.end).size) {
            const Kind other = kind_at(p);
            if (blank ? other != kBlank && other != kLine : other != kind) break;
            if (other == kLine) after_line = p + 1;
        }
        if (after_line && after_line != p)
            result.push_back(static_cast<std::uint64_t>(after_line - text.begin));
        result.push_back(static_cast<std::uint64_t>(p - text.begin));
    }
    return result;
}

}  // namespace toksmith::test

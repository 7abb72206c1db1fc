#include "split/split_table.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_map>
#include <utility>

#include "base/stop.hpp"

namespace toksmith {
namespace {

constexpr std::uint32_t kCodes = 0x110000;
// A byte of invalid UTF-8 is read as Python reads it: as a surrogate.
constexpr std::uint32_t kSurrogate = 0xDC80;

void check(bool holds) {
    if (!holds) throw std::invalid_argument("the tables of a split do not fit together");
}

}  // namespace

SplitTable::SplitTable(std::span<const std::uint32_t> starts, std::span<const std::uint8_t> classes,
                       std::span<const std::uint16_t> next, std::span<const Action> actions,
                       std::vector<std::uint64_t> sure_cuts)
    : sure_cuts_(std::move(sure_cuts)) {
    const std::size_t kinds = sure_cuts_.size();
    check(kinds >= 1 && kinds < 64 && next.size() % kinds == 0);
    const std::size_t states = next.size() / kinds;
    row_bits_ = static_cast<unsigned>(std::bit_width(kinds));
    const std::size_t row = std::size_t{1} << row_bits_;
    check(states >= 1 && states * row <= 0x10000 && actions.size() == states * (kinds + 1));
    check(std::ranges::all_of(next, [&](std::uint16_t state) { return state < states; }));
    check(!starts.empty() && starts.size() == classes.size() && starts[0] == 0);
    check(std::ranges::is_sorted(starts) && starts.back() < kCodes);
    check(std::ranges::all_of(classes, [&](std::uint8_t kind) { return kind < kinds; }));

    next_.assign(states * row, 0);
    actions_.assign(states * row, 0);
    for (std::size_t state = 0; state < states; ++state) {
        for (std::size_t kind = 0; kind < kinds; ++kind) {
            next_[state * row + kind] = static_cast<State>(next[state * kinds + kind] * row);
        }
        std::copy_n(&actions[state * (kinds + 1)], kinds + 1, &actions_[state * row]);
        // In all other states, the end of the text is an end.
        if (state != 0 && actions[state * (kinds + 1) + kinds] == 0)
            lost_ = static_cast<State>(state * row);
    }

    std::vector<std::uint8_t> every(kCodes);
    for (std::size_t i = 0; i < starts.size(); ++i) {
        const std::uint32_t end = i + 1 < starts.size() ? starts[i + 1] : kCodes;
        std::fill(every.begin() + starts[i], every.begin() + end, classes[i]);
    }
    std::copy_n(every.begin(), ascii_.size(), ascii_.begin());
    invalid_ = every[kSurrogate];
    std::unordered_map<std::string, std::uint16_t> blocks;  // equal ones are stored once
    for (std::size_t i = 0; i < block_of_.size(); ++i) {
        const auto begin = every.begin() + static_cast<std::ptrdiff_t>(i * kBlock);
        std::string block(begin, begin + kBlock);
        const auto [found, is_new] =
            blocks.try_emplace(std::move(block), static_cast<std::uint16_t>(blocks.size()));
        if (is_new) class_of_.insert(class_of_.end(), begin, begin + kBlock);
        block_of_[i] = found->second;
    }
    pairs_ = make_pairs();
}

const utf8::Byte* SplitTable::next_sure_cut(const utf8::Byte* from, const utf8::Byte* end) const {
    InterruptionPoints<std::size_t{1} << 19> points;
    std::optional<std::uint8_t> before;
    for (const utf8::Byte* p = from; p < end;) {
        points.step();
        const utf8::Char character = utf8::decode(p, end);
        const std::uint8_t kind = class_of(character.code);
        if (before && is_sure_cut(*before, kind)) return p;
        before = kind;
        p += character.size;
    }
    return end;
}

const utf8::Byte* SplitTable::last_sure_cut(const utf8::Byte* begin, const utf8::Byte* from,
                                            const utf8::Byte* end) const {
    InterruptionPoints<std::size_t{1} << 19> points;
    for (const utf8::Byte* p = from; p > begin; --p) {
        points.step();
        if (p < end && p[-1] < 0x80 && p[0] < 0x80 &&
            is_sure_cut(ascii_class(p[-1]), ascii_class(p[0])))
            return p;
    }
    return begin;
}

SplitTable::Pairs SplitTable::make_pairs() const {
    constexpr std::size_t kMostCells = 0x10000;
    const std::size_t states = next_.size() >> row_bits_;
    const auto fits = [&](std::size_t kinds) { return states * kinds * kinds <= kMostCells; };
    std::vector<std::uint8_t> kinds;
    std::array<std::uint16_t, 64> number{};  // of each class in `kinds`
    const auto add = [&](std::uint8_t kind) {
        if (std::ranges::find(kinds, kind) != kinds.end()) return;
        number[kind] = static_cast<std::uint16_t>(kinds.size());
        kinds.push_back(kind);
    };
    for (const std::uint8_t kind : ascii_) add(kind);
    Pairs pairs;
    pairs.has_all_kinds = fits(sure_cuts_.size());
    for (std::uint8_t kind = 0; pairs.has_all_kinds && kind < sure_cuts_.size(); ++kind) add(kind);
    pairs.row = kinds.size() * kinds.size();
    for (std::size_t i = 0; i < pairs.second.size(); ++i) {
        pairs.second[i] = number[i < Pairs::kBeyond ? ascii_[i] : i - Pairs::kBeyond];
        pairs.first[i] = static_cast<std::uint16_t>(pairs.second[i] * kinds.size());
    }
    if (!fits(kinds.size())) return pairs;
    for (std::size_t state = 0; state < states; ++state) {
        const State start = state_of_number(state);
        for (const std::uint8_t one : kinds) {
            for (const std::uint8_t two : kinds) {
                const State middle = next(start, one);
                const unsigned first = action(start, one), second = action(middle, two);
                const std::size_t last = state_number(next(middle, two));
                const bool rare = (first | second) & (kEndAtRegister | kMark);
                pairs.next.push_back(static_cast<Pairs::State>(last * pairs.row));
                const unsigned free = (first & kFree ? 1 : 0) | (second & kFree ? 2 : 0);
                pairs.actions.push_back((first & kEnds) | (second & kEnds) << 1 |
                                        free << Pairs::kFreeBit | (rare ? Pairs::kRare : 0) |
                                        static_cast<Pairs::Action>(last << Pairs::kStateBit));
            }
        }
    }
    return pairs;
}

}  // namespace toksmith

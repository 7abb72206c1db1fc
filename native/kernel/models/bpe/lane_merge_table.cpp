#include "models/bpe/lane_merge_table.hpp"

#include <algorithm>
#include <cstddef>
#include <span>
#include <utility>

namespace toksmith::bpe {
namespace {

constexpr std::uint32_t kMostNumbers = (1u << PerfectPairHash::kBits) - 1;

// Orders rules of equal rank, which merge from left to right, if each of them appends one symbol to
// a run of that symbol, as the rules for spaces of Llama do. With longer runs first, merging by
// rank equals merging from left to right: a run starts only where the run before it cannot grow.
// Returns false for other rules.
bool order_runs(std::span<LaneMergeRule> same, const std::vector<LaneMergeRule>& rules) {
    const Id symbol = same[0].right;
    const auto adds_it = [&](const LaneMergeRule& rule) { return rule.right == symbol; };
    const auto makes_it = [&](const LaneMergeRule& rule) { return rule.id == symbol; };
    if (!std::ranges::all_of(same, adds_it) || std::ranges::any_of(rules, makes_it)) return false;
    Id run = symbol;
    for (auto rest = same.begin(); rest != same.end(); ++rest) {
        const auto next = std::find_if(rest, same.end(),
                                       [&](const LaneMergeRule& rule) { return rule.left == run; });
        if (next == same.end()) return false;
        std::swap(*rest, *next);
        run = rest->id;
    }
    std::ranges::reverse(same);
    return true;
}

}  // namespace

std::optional<LaneMergeTable> LaneMergeTable::make(std::vector<LaneMergeRule> rules,
                                                   const std::array<Id, 256>& symbols) {
    if (rules.size() + symbols.size() > kMostNumbers) return {};
    if (!std::ranges::is_sorted(rules, {}, &LaneMergeRule::rank)) {
        std::ranges::sort(rules, {}, &LaneMergeRule::rank);
    }
    for (std::size_t first = 0, last = 0; first < rules.size(); first = last) {
        while (last < rules.size() && rules[last].rank == rules[first].rank) ++last;
        const std::span<LaneMergeRule> same(&rules[first], last - first);
        const bool in_order = same.size() == 1 || order_runs(same, rules);
        for (LaneMergeRule& rule : same) rule.in_order = in_order;
    }
    LaneMergeTable merges(rules, symbols);
    if (!merges.pairs_) return {};
    return merges;
}

LaneMergeTable::LaneMergeTable(const std::vector<LaneMergeRule>& rules,
                               const std::array<Id, 256>& symbols)
    : byte_pairs_(256 * 256, kNone) {
    Id highest = 0;
    for (const LaneMergeRule& rule : rules)
        highest = std::max({highest, rule.left, rule.right, rule.id});
    for (const Id symbol : symbols) {
        if (symbol != kNone) highest = std::max(highest, symbol);
    }
    // 0: the symbol has no number yet. The first number is 1.
    std::vector<std::uint32_t> numbers(std::size_t{highest} + 1);
    ids_.assign(1, kNone);
    // Rule i - 1 produces number i. The numbers of bytes follow those of the rules.
    ids_.resize(rules.size() + 1, kNone);
    for (std::size_t byte = 0; byte < symbols.size(); ++byte) {
        const Id symbol = symbols[byte];
        all_bytes_ = all_bytes_ && symbol != kNone;
        bytes_[byte] = kNone;
        if (symbol == kNone) continue;
        if (numbers[symbol] == 0) {
            numbers[symbol] = static_cast<std::uint32_t>(ids_.size());
            ids_.push_back(symbol);
        }
        bytes_[byte] = numbers[symbol];
    }
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const LaneMergeRule& rule = rules[i];
        if (!rule.in_order || !rule.plain || numbers[rule.id] != 0) continue;
        numbers[rule.id] = static_cast<std::uint32_t>(i + 1);
        ids_[i + 1] = rule.id;
    }
    if (!rules.empty()) distance_ = rules[0].id - 1;
    const auto is_at_distance = [&](const LaneMergeRule& rule) {
        return rule.id == in_order_ + 1 + distance_;
    };
    while (in_order_ < rules.size() && is_at_distance(rules[in_order_])) ++in_order_;
    std::vector<PerfectPairHash::Pair> pairs;
    pairs.reserve(rules.size());
    for (std::size_t i = 0; i < rules.size(); ++i) {
        const std::uint32_t left = numbers[rules[i].left], right = numbers[rules[i].right];
        if (left == 0 || right == 0) continue;  // such a pair never occurs in a lane
        const bool stops = ids_[i + 1] == kNone;
        pairs.push_back({left, right, stops ? kStop : static_cast<std::uint32_t>(i + 1)});
    }
    pairs_ = PerfectPairHash::make(pairs);
    if (!pairs_) return;
    for (std::size_t i = 0; i < byte_pairs_.size(); ++i) {
        const std::uint32_t left = bytes_[i / 256], right = bytes_[i % 256];
        if (left != kNone && right != kNone) byte_pairs_[i] = pairs_->find(left, right);
    }
}

}  // namespace toksmith::bpe

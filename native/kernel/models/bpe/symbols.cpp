#include "models/bpe/symbols.hpp"

#include <algorithm>
#include <numeric>
#include <stdexcept>
#include <unordered_map>
#include <utility>

#include "base/recent_values.hpp"

namespace toksmith::bpe {
namespace {

// A run as the Row of LongMerge. The first and the last cell of a symbol store its size in cells,
// so that neighbours are found without links.
class SizedRow {
 public:
    explicit SizedRow(std::vector<Id>& ids) : ids_(ids) {
        constexpr std::size_t kStep = std::size_t{1} << 20;
        sizes_.reserve(ids.size());
        while (sizes_.size() < ids.size()) {
            sizes_.resize(std::min(ids.size(), sizes_.size() + kStep), 1);
            interruption_point();
        }
    }

    std::size_t size() const { return sizes_.size(); }
    bool starts(std::size_t place) const { return ids_[place] != kGone; }
    Id id(std::size_t place) const { return ids_[place]; }
    std::size_t next(std::size_t place) const { return place + sizes_[place]; }
    std::size_t before(std::size_t place) const { return place - sizes_[place - 1]; }

    void join(std::size_t place, std::size_t middle, Id id) {
        const std::size_t after = next(middle);
        ids_[middle] = kGone;
        ids_[place] = id;
        sizes_[place] = sizes_[after - 1] = static_cast<std::uint32_t>(after - place);
    }

 private:
    static constexpr Id kGone = 0xFFFFFFFFu;  // no symbol starts here

    std::vector<Id>& ids_;
    std::vector<std::uint32_t> sizes_;
};

}  // namespace

void SymbolRun::merge(const PairTable& pairs, bool places) {
    const std::size_t size = ids.size();
    if (!places && size <= kShort) {
        ids.resize(
            merge_short(ids.data(), merges.data(), size, pairs, [](std::size_t, std::size_t) {}));
        return;
    }
    first.resize(size + 1);
    std::iota(first.begin(), first.end(), 0u);
    std::size_t count = 0;
    if (size <= kShort) {
        count = merge_short(ids.data(), merges.data(), size, pairs,
                            [&](std::size_t to, std::size_t from) { first[to] = first[from]; });
    } else {
        SizedRow row(ids);
        LongMerge(row, pairs).run();
        for (std::size_t i = 0; i < size; i = row.next(i)) {
            first[count] = static_cast<std::uint32_t>(i);
            ids[count++] = row.id(i);
        }
    }
    first[count] = static_cast<std::uint32_t>(size);
    ids.resize(count);
    first.resize(count + 1);
}

struct SymbolPairs::Plan {
    std::vector<SymbolRule> rules;
    std::vector<std::pair<Id, Id>> open;
    bool all_open = false;

    Plan(std::vector<SymbolRule> given, const std::vector<Id>& starts, std::size_t ids)
        : rules(std::move(given)) {
        for (const SymbolRule& rule : rules) {
            if (rule.left >= ids || rule.right >= ids || rule.merge.id >= ids ||
                rule.merge.rank >= kMayReachAcross) {
                throw std::invalid_argument("a merge does not fit the vocabulary");
            }
        }
        const Reached ends = reached(starts, ids, &SymbolRule::right);
        const Reached begins = reached(starts, ids, &SymbolRule::left);
        RecentValues recent;
        for (const SymbolRule& rule : rules) {
            ends.for_each(rule.left, [&](Id x) {
                begins.for_each(rule.right, [&](Id y) {
                    if (!recent.add(pair_key(x, y))) open.emplace_back(x, y);
                });
            });
        }
        std::ranges::sort(open);
        open.erase(std::unique(open.begin(), open.end()), open.end());
    }

 private:
    // The maximum number of initial symbols with which an id can start or end. A vocabulary with
    // more maps different texts to one id; then a merge may reach across any pair.
    static constexpr std::size_t kMost = 16;

    // For each id, the initial symbols with which it can end, or start. Most ids have one.
    class Reached {
     public:
        explicit Reached(std::size_t ids) : first_(ids, kNone) {}

        enum class Added : std::uint8_t { kNew, kKnown, kTooMany };
        Added add(Id id, Id symbol) {
            if (first_[id] == kNone) {
                first_[id] = symbol;
                return Added::kNew;
            }
            if (first_[id] == symbol) return Added::kKnown;
            std::vector<Id>& more = more_[id];
            if (std::ranges::find(more, symbol) != more.end()) return Added::kKnown;
            if (more.size() + 1 >= kMost) return Added::kTooMany;
            more.push_back(symbol);
            return Added::kNew;
        }

        template <typename WithSymbol>
        void for_each(Id id, WithSymbol with_symbol) const {
            if (first_[id] == kNone) return;
            with_symbol(first_[id]);
            if (more_.empty()) return;
            if (const auto found = more_.find(id); found != more_.end())
                std::ranges::for_each(found->second, with_symbol);
        }

     private:
        static constexpr Id kNone = 0xFFFFFFFFu;

        std::vector<Id> first_;
        std::unordered_map<Id, std::vector<Id>> more_;
    };

    // `side`: right for the symbols with which an id can end, left for those with which it starts.
    Reached reached(const std::vector<Id>& starts, std::size_t ids, Id SymbolRule::* side) {
        // The results of the merges of which `id` is the given side: made[first[id]] to before
        // made[first[id + 1]].
        std::vector<std::size_t> first(ids + 2);
        for (const SymbolRule& rule : rules) ++first[rule.*side + 2];
        std::partial_sum(first.begin(), first.end(), first.begin());
        std::vector<Id> made(rules.size());
        for (const SymbolRule& rule : rules) made[first[rule.*side + 1]++] = rule.merge.id;
        Reached found(ids);
        std::vector<std::pair<Id, Id>> waiting;  // (id, initial symbol found for it)
        const auto add = [&](Id id, Id symbol) {
            const Reached::Added added = found.add(id, symbol);
            if (added == Reached::Added::kNew) waiting.emplace_back(id, symbol);
            if (added == Reached::Added::kTooMany) all_open = true;
        };
        for (const Id start : starts) add(start, start);
        while (!waiting.empty()) {
            const auto [id, symbol] = waiting.back();
            waiting.pop_back();
            for (std::size_t i = first[id]; i < first[id + 1]; ++i) add(made[i], symbol);
        }
        return found;
    }
};

SymbolPairs::SymbolPairs(std::vector<SymbolRule> rules, const std::vector<Id>& starts,
                         std::size_t ids)
    : SymbolPairs(Plan(std::move(rules), starts, ids)) {}

SymbolPairs::SymbolPairs(const Plan& plan)
    : table_(plan.rules.size() + plan.open.size()), all_open_(plan.all_open) {
    const auto insert = [&](Id left, Id right, const Merge& merge) {
        if (table_.find(left, right).rank == kNoRank) table_.insert(left, right, merge);
    };
    for (std::size_t i = plan.rules.size(); i-- > 0;) {
        insert(plan.rules[i].left, plan.rules[i].right, plan.rules[i].merge);
    }
    for (const auto& [left, right] : plan.open) insert(left, right, {kMayReachAcross, 0});
}

}  // namespace toksmith::bpe

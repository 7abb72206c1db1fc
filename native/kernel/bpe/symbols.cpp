#include "bpe/symbols.hpp"

#include <algorithm>
#include <numeric>
#include <queue>
#include <stdexcept>
#include <unordered_map>
#include <utility>

namespace toksmith::bpe {
namespace {

constexpr std::size_t kShort = 96;

void merge_short(SymbolRun& run, const PairTable& pairs) {
    std::size_t count = run.ids.size();
    Id* ids = run.ids.data();
    Merge* merges = run.merges.data();
    std::uint32_t* first = run.first.data();
    while (count > 1) {
        std::size_t best = 0;
        for (std::size_t i = 1; i + 1 < count; ++i) {
            if (merges[i].rank < merges[best].rank) best = i;
        }
        if (merges[best].rank >= kOpen) break;
        ids[best] = merges[best].id;
        --count;
        for (std::size_t i = best + 1; i < count; ++i) {
            ids[i] = ids[i + 1];
            merges[i - 1] = merges[i];
            first[i] = first[i + 1];
        }
        if (best > 0) merges[best - 1] = pairs.find(ids[best - 1], ids[best]);
        if (best + 1 < count) merges[best] = pairs.find(ids[best], ids[best + 1]);
    }
    run.ids.resize(count);
    first[count] = first[run.first.size() - 1];
    run.first.resize(count + 1);
}

// The places of each mergeable pair are kept by rank, and the ranks in a heap. A symbol's size is
// in its first cell and in its last, so that its neighbours can be found without links.
class LongMerge {
 public:
    LongMerge(SymbolRun& run, const PairTable& pairs)
        : run_(run), pairs_(pairs), sizes_(run.ids.size(), 1) {
        for (std::size_t i = 0; i < run.merges.size(); ++i) note(i, run.merges[i].rank);
    }

    void run() {
        while (!ranks_.empty()) {
            const std::uint32_t rank = ranks_.top();
            ranks_.pop();
            Places& places = places_[rank];
            if (!std::exchange(places.sorted, true)) std::ranges::sort(places.noted);
            while (!places.empty()) {
                merge(places.pop(), rank);
                if (!ranks_.empty() && ranks_.top() < rank) break;
            }
            if (places.empty()) {
                places_.erase(rank);
            } else {
                ranks_.push(rank);
            }
        }
        std::size_t count = 0;
        for (std::size_t i = 0; i < sizes_.size(); i += sizes_[i]) {
            run_.ids[count] = run_.ids[i];
            run_.first[count++] = static_cast<std::uint32_t>(i);
        }
        run_.first[count] = static_cast<std::uint32_t>(sizes_.size());
        run_.ids.resize(count);
        run_.first.resize(count + 1);
    }

 private:
    using Place = std::uint32_t;

    // Where one rank was found, from left to right: once it is worked on, what is found later
    // goes to a heap.
    struct Places {
        std::vector<Place> noted, later;
        std::size_t next = 0;
        bool sorted = false;

        bool empty() const { return next == noted.size() && later.empty(); }
        void add(Place place) {
            if (!sorted) return noted.push_back(place);
            later.push_back(place);
            std::ranges::push_heap(later, std::greater<>());
        }
        Place pop() {
            if (later.empty() || (next < noted.size() && noted[next] < later.front())) {
                return noted[next++];
            }
            std::ranges::pop_heap(later, std::greater<>());
            const Place place = later.back();
            later.pop_back();
            return place;
        }
    };

    void note(std::size_t place, std::uint32_t rank) {
        if (rank >= kOpen) return;
        const auto [found, is_new] = places_.try_emplace(rank);
        if (is_new) ranks_.push(rank);
        found->second.add(static_cast<Place>(place));
    }

    void note(std::size_t place, Id left, Id right) { note(place, pairs_.find(left, right).rank); }

    // Merges the pair at `place`, if it still stands there with this rank.
    void merge(std::size_t place, std::uint32_t rank) {
        std::vector<Id>& ids = run_.ids;
        const std::size_t middle = place + sizes_[place];
        if (ids[place] == kGone || middle >= ids.size()) return;
        const Merge found = pairs_.find(ids[place], ids[middle]);
        if (found.rank != rank) return;
        const std::size_t after = middle + sizes_[middle];
        ids[middle] = kGone;
        ids[place] = found.id;
        sizes_[place] = sizes_[after - 1] = static_cast<std::uint32_t>(after - place);
        if (place > 0) {
            const std::size_t before = place - sizes_[place - 1];
            note(before, ids[before], found.id);
        }
        if (after < ids.size()) note(place, found.id, ids[after]);
    }

    static constexpr Id kGone = 0xFFFFFFFFu;  // no symbol starts here any more

    SymbolRun& run_;
    const PairTable& pairs_;
    std::vector<std::uint32_t> sizes_;
    std::unordered_map<std::uint32_t, Places> places_;
    std::priority_queue<std::uint32_t, std::vector<std::uint32_t>, std::greater<>> ranks_;
};

}  // namespace

void SymbolRun::merge(const PairTable& pairs) {
    first.resize(ids.size() + 1);
    std::iota(first.begin(), first.end(), 0u);
    if (ids.size() <= kShort) {
        merge_short(*this, pairs);
    } else {
        LongMerge(*this, pairs).run();
    }
}

struct SymbolPairs::Plan {
    std::vector<SymbolRule> rules;
    std::vector<std::pair<Id, Id>> open;
    bool all_open = false;

    Plan(std::vector<SymbolRule> given, const std::vector<Id>& starts, std::size_t ids)
        : rules(std::move(given)) {
        for (const SymbolRule& rule : rules) {
            if (rule.left >= ids || rule.right >= ids || rule.merge.id >= ids ||
                rule.merge.rank >= kOpen) {
                throw std::invalid_argument("a merge does not fit the vocabulary");
            }
        }
        const auto ends = reached(starts, ids, &SymbolRule::right);
        const auto begins = reached(starts, ids, &SymbolRule::left);
        for (const SymbolRule& rule : rules) {
            for (const Id x : ends[rule.left]) {
                for (const Id y : begins[rule.right]) open.emplace_back(x, y);
            }
        }
        std::ranges::sort(open);
        const auto repeated = std::ranges::unique(open);
        open.erase(repeated.begin(), repeated.end());
    }

 private:
    // Such a number of symbols that one id can start or end with is no vocabulary's: it would take
    // one id for different texts.
    static constexpr std::size_t kMost = 16;

    // The symbols that each id can end with (`side`: right) or start with (left).
    std::vector<std::vector<Id>> reached(const std::vector<Id>& starts, std::size_t ids,
                                         Id SymbolRule::* side) {
        std::vector<std::vector<Id>> made(ids), found(ids);  // made: of an id, what is made of it
        for (const SymbolRule& rule : rules) made[rule.*side].push_back(rule.merge.id);
        std::vector<std::pair<Id, Id>> waiting;  // an id, and a symbol that it was found to have
        const auto add = [&](Id id, Id symbol) {
            if (std::ranges::find(found[id], symbol) != found[id].end()) return;
            if (found[id].size() == kMost) {
                all_open = true;
                return;
            }
            found[id].push_back(symbol);
            waiting.emplace_back(id, symbol);
        };
        for (const Id start : starts) add(start, start);
        while (!waiting.empty()) {
            const auto [id, symbol] = waiting.back();
            waiting.pop_back();
            for (const Id larger : made[id]) add(larger, symbol);
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
    for (const auto& [left, right] : plan.open) insert(left, right, {kOpen, 0});
}

}  // namespace toksmith::bpe

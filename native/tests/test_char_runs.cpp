// Runs of single characters stay queued while earlier runs are consumed.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "encode/char_runs.hpp"
#include "kit.hpp"

namespace toksmith::test {
namespace {

// Characters of three bytes that are chunks by themselves; the first kKnown are cached.
constexpr std::uint32_t kFirst = 0x4E00, kKnown = 50;

std::string character(std::uint32_t number) {
    const std::uint32_t code = kFirst + number;
    return {static_cast<char>(0xE0 | code >> 12), static_cast<char>(0x80 | (code >> 6 & 0x3F)),
            static_cast<char>(0x80 | (code & 0x3F))};
}

}  // namespace

TEST(overlong_forms_are_no_characters) {
    CharCache singles;
    const Id id = 7;
    for (std::uint8_t byte = 0; byte < 0x80; ++byte) singles.insert(&byte, {&id, 1});
    for (unsigned lead = 0; lead < 0x100; ++lead) {
        for (unsigned second = 0; second < 0x100; ++second) {
            for (unsigned third = 0; third < 0x100; ++third) {
                const std::uint8_t bytes[4] = {static_cast<std::uint8_t>(lead),
                                               static_cast<std::uint8_t>(second),
                                               static_cast<std::uint8_t>(third), 'x'};
                const bool overlong = lead == 0xE0 && second < 0xA0;
                const bool shaped =
                    lead >> 4 == 0xE && second >> 6 == 2 && third >> 6 == 2 && !overlong;
                CHECK(CharCache::may_be_at(bytes) == shaped);
            }
        }
    }
}

TEST(runs_that_were_not_taken_are_not_forgotten) {
    const auto rows = [](std::uint32_t) { return std::make_unique<CharacterTable::Block>(); };
    const CutTable cut_table(std::make_shared<const CharacterTable>(rows), {});
    CharCache singles;
    for (Id i = 0; i < kKnown; ++i) singles.insert(bytes_of(character(i)).data(), {&i, 1});
    Random random{53};
    for (int round = 0; round < 200; ++round) {
        CharRuns runs(cut_table, singles);
        struct Run {
            std::size_t chunk;
            std::vector<Id> ids;
        };
        std::deque<Run> on_their_way;
        std::size_t found = 0, taken = 0;  // chunks
        for (int step = 0; step < 100; ++step) {
            found += random.below(5);  // other chunks
            std::string text;
            std::vector<Id> ids;
            for (std::size_t i = random.below(40); i-- > 0;) {
                ids.push_back(static_cast<Id>(random.below(kKnown)));
                text += character(ids.back());
            }
            text += "aaaa";
            if (!runs.full()) {
                const std::size_t before = runs.size(), count = runs.count();
                const Bytes bytes = bytes_of(text);
                const Text all = text_of(bytes);
                const std::uint8_t* const end = runs.find(all.begin, all.end);
                ids.resize(std::min(ids.size(), CharRuns::kMost - before));
                CHECK(static_cast<std::size_t>(end - all.begin) == 3 * ids.size());
                CHECK(runs.size() == before + ids.size());
                if (runs.count() > count) {
                    runs.run(count).chunk = found;
                    on_their_way.push_back({found++, ids});
                }
            }
            // The first runs are prefetched and consumed, then dropped.
            const bool rest = runs.full() || random.below(9) == 0;
            for (std::size_t i = rest ? on_their_way.size() : random.below(3); i-- > 0;) {
                if (on_their_way.empty()) break;
                const Run run = on_their_way.front();
                on_their_way.pop_front();
                CHECK(runs.to_consume->chunk == run.chunk);
                std::vector<Id> got;
                for (std::size_t j = runs.to_consume->first; j < runs.to_consume->last; ++j)
                    got.push_back(runs.entries()[j].words[0]);
                CHECK(got == run.ids);
                taken = run.chunk + 1;
                if (runs.to_prefetch == runs.to_consume++) ++runs.to_prefetch;
            }
            CHECK((runs.to_consume->chunk == ~std::size_t{0}) == on_their_way.empty());
            if (rest || random.below(4) == 0) {
                if (on_their_way.empty()) taken = found;
                runs.forget(taken);
                for (Run& run : on_their_way) run.chunk -= taken;
                found -= taken;
                taken = 0;
            }
        }
    }
}

}  // namespace toksmith::test

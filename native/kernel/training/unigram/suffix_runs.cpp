#include "training/unigram/suffix_runs.hpp"

#include <algorithm>
#include <utility>

#include "base/stop.hpp"
#include "training/ordered_bytes.hpp"

namespace toksmith::unigram {

SortedRun write_suffixes(const CountedWords& words, std::size_t depth, BlockFile& file,
                         const Workers& workers) {
    const DistinctSuffixes distinct(words, sort_ends(words, workers));
    const Suffixes suffixes = sort_suffixes(words, distinct, depth, workers);
    RunWriter writer(file);
    std::vector<std::uint8_t> bytes, before;
    std::uint64_t count = 0;
    const auto add = [&] {
        if (!before.empty()) writer.add({before.data(), before.size(), count, 0});
    };
    InterruptionPoints<4096> points;
    for (const std::uint32_t place : suffixes.places) {
        points.step();
        bytes.clear();
        for (std::size_t i = 0; i < depth && words.text[place + i]; ++i) {
            bpe::write_ordered(words.text[place + i] - 1, bytes);
        }
        if (bytes != before) {  // suffixes that differ beyond the depth are equal here
            add();
            std::swap(bytes, before);
            count = 0;
        }
        count += distinct.count(place);
    }
    add();
    return writer.finish();
}

void shared_in_runs(BlockFile& file, std::vector<SortedRun> runs, std::size_t memory,
                    const FoundInRuns& found) {
    SummedRuns records(file, std::move(runs), memory, true);
    SharedPrefixes prefixes;
    std::vector<std::uint32_t> string, before;
    const auto found_before = [&](const Shared& shared) { found(shared, before.data()); };
    for (std::uint64_t number = 0; const Record* record = records.next(); ++number) {
        string.clear();
        const std::uint8_t* p = record->bytes;
        while (p < record->bytes + record->size) string.push_back(bpe::read_ordered(p) + 1);
        const auto [same, other] =
            std::mismatch(before.begin(), before.end(), string.begin(), string.end());
        prefixes.add(number, static_cast<std::uint32_t>(same - before.begin()),
                     static_cast<std::uint32_t>(string.size()), record->count, found_before);
        std::swap(string, before);
    }
    prefixes.finish(found_before);
}

}  // namespace toksmith::unigram

// The state of objects after an allocation has failed.
#include <algorithm>
#include <map>
#include <optional>
#include <string>

#include "counting/chunk_counter.hpp"
#include "counting/word_counter.hpp"
#include "failing_memory.hpp"
#include "kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

using Counts = std::map<std::string, std::uint64_t>;

Counts counts_of(const DistinctChunks& chunks) {
    Counts counts;
    for (const DistinctChunks::Entry& entry : chunks.entries()) {
        const auto* bytes = reinterpret_cast<const char*>(entry.bytes());
        const bool is_new = counts.emplace(std::string(bytes, entry.size()), entry.count).second;
        CHECK(is_new, "a chunk occurs twice");
    }
    return counts;
}

// Distinct words of letters. Every fifth one is longer than a slot of the table.
std::string words(std::size_t size) {
    std::string text;
    for (std::size_t i = 0; i < size; ++i) {
        text += " w";
        for (std::size_t rest = i; rest > 0; rest /= 26) {
            text += static_cast<char>('a' + rest % 26);
        }
        if (i % 5 == 0) text += std::string(20, 'x');
    }
    return text;
}

Text view(const std::string& text) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
    return {begin, begin + text.size()};
}

}  // namespace

TEST(table_is_unchanged_if_it_cannot_grow) {
    const std::string text = words(2000);
    const auto count = [&](ChunkCounter& counter) { counter.add({view(text)}, 1); };
    ChunkCounter whole(family_named("gpt2"), isa::best());
    count(whole);
    const Counts wanted = counts_of(whole.finish());
    CHECK(wanted.size() == 2000);

    std::optional<ChunkCounter> counter;
    const std::size_t allocations = fail_each_allocation(
        [&] { counter.reset(); },
        [&] {
            counter.emplace(family_named("gpt2"), isa::best());
            count(*counter);
        },
        [&] {
            if (!counter) return;
            // All chunks are present exactly once. Those before the failure count twice.
            count(*counter);
            const Counts found = counts_of(counter->finish());
            CHECK(found.size() == wanted.size());
            for (const auto& [chunk, times] : found) {
                CHECK(wanted.contains(chunk) && (times == 1 || times == 2), chunk);
            }
        });
    CHECK(allocations > 10, std::to_string(allocations));  // the table grew twice, and lists grew
}

TEST(memory_ends_while_a_full_table_is_tried_again_and_again) {
    if (!kMapsFail) return;
    const std::string text = words(1200);
    ChunkTable table;
    std::size_t failures = 0;
    std::size_t start = 0;
    while (start < text.size()) {
        const std::size_t end = std::min(text.find(' ', start + 1), text.size());
        // Each chunk fails for which the table would have to grow.
        const FailingAllocation failing(0);
        try {
            table.add(view(text).begin + start, std::min<std::size_t>(end - start, 15), 1, start);
        } catch (const std::bad_alloc&) {
            ++failures;
        }
        start = end;
    }
    CHECK(failures == 432 && table.size() == 768);  // three quarters of 1024 slots
}

TEST(memory_ends_while_words_are_counted) {
    const std::string text = words(1500) + "\n\xC3\xA9 " + words(800);
    std::optional<WordCounter> counter;
    const auto count = [&] { counter->add({view(text)}, 1); };
    counter.emplace(WordCounter::Options{});
    count();
    const Counts wanted = counts_of(counter->finish().chunks);
    fail_each_allocation(
        kNothing,
        [&] {
            counter.emplace(WordCounter::Options{});
            count();
            counter->finish();
        },
        [&] {
            counter.emplace(WordCounter::Options{});
            count();
            CHECK(counts_of(counter->finish().chunks) == wanted);
        });
}

TEST(memory_ends_while_training) {
    const std::string text = words(300);
    Bytes bytes(text.begin(), text.end());
    std::vector<std::uint64_t> ends;
    for (std::size_t i = 1; i <= bytes.size(); ++i) {
        if (i == bytes.size() || bytes[i] == ' ') ends.push_back(i);
    }
    const std::vector<std::uint64_t> counts(ends.size(), 3);
    const bpe::CountedChunks chunks{bytes.data(), ends, counts};
    const std::size_t wanted = bpe::train(chunks, {.tokens = 60}, {}).merges.size();
    std::size_t found = 0;
    fail_each_allocation([&] { found = 0; },
                         [&] { found = bpe::train(chunks, {.tokens = 60}, {}).merges.size(); },
                         [&] { CHECK(found == 0); });
    CHECK(found == wanted && wanted == 60);
}

// Counts that are spilled to a file and merged.
#include <cstdio>
#include <cstdlib>
#include <map>
#include <random>
#include <string>
#include <system_error>

#include "counting/chunk_counter.hpp"
#include "kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

class TemporaryFile {
 public:
    TemporaryFile() : file_(std::tmpfile()) {}
    ~TemporaryFile() { std::fclose(file_); }
    int descriptor() const { return fileno(file_); }

 private:
    std::FILE* file_;
};

Record record(const std::string& chunk, std::uint64_t count, std::uint64_t first) {
    return {reinterpret_cast<const std::uint8_t*>(chunk.data()), chunk.size(), count, first};
}

using Counted = std::vector<std::pair<std::string, std::uint64_t>>;

Counted counted(SpilledCounts& spilled) {
    Counted result;
    spilled.visit([&](const Record& found) {
        const auto* bytes = reinterpret_cast<const char*>(found.bytes);
        result.emplace_back(std::string(bytes, found.size), found.count);
    });
    return result;
}

template <typename Work>
bool fails(Work work) {
    try {
        work();
    } catch (const std::system_error&) {
        return true;
    }
    return false;
}

Text text_of(const std::string& text) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
    return {begin, begin + text.size()};
}

}  // namespace

TEST(spill_runs_come_back) {
    TemporaryFile file;
    BlockFile spill(file.descriptor());
    const std::string large(1'000'000, 'x');
    const std::string odd("\0\xFF", 2);
    RunWriter other(spill);
    other.add(record("before", 1, 2));
    other.finish();
    RunWriter writer(spill);
    writer.add(record("a", ~std::uint64_t{0}, 1));
    writer.add(record(odd, 0, ~std::uint64_t{0}));
    writer.add(record(large, 300, 128));
    writer.add(record("b", 127, 0));
    const SortedRun run = writer.finish();
    CHECK(run.records == 4 && run.size > 1'000'000);
    for (const std::size_t buffer : {1, 100, 1 << 20}) {
        RunReader reader(spill, run, buffer);
        for (const auto& [chunk, count, first] :
             std::vector<std::tuple<std::string, std::uint64_t, std::uint64_t>>{
                 {"a", ~std::uint64_t{0}, 1},
                 {odd, 0, ~std::uint64_t{0}},
                 {large, 300, 128},
                 {"b", 127, 0}}) {
            CHECK(reader.next());
            const Record& found = reader.record();
            CHECK(std::string(reinterpret_cast<const char*>(found.bytes), found.size) == chunk);
            CHECK(found.count == count && found.first == first);
        }
        CHECK(!reader.next());
    }
}

TEST(spill_reports_damaged_runs) {
    TemporaryFile file;
    BlockFile spill(file.descriptor());
    RunWriter writer(spill);
    std::mt19937_64 random(1);
    for (int i = 0; i < 50; ++i) writer.add(record(std::to_string(random()), random(), random()));
    const SortedRun run = writer.finish();
    std::vector<std::uint8_t> whole(run.size);
    spill.read(run.blocks[0], 0, whole.data(), whole.size());
    const auto read_all = [&] {
        RunReader reader(spill, run, 64);
        while (reader.next()) {
        }
    };
    for (int round = 0; round < 2000; ++round) {
        auto bytes = whole;
        bytes[random() % bytes.size()] ^= static_cast<std::uint8_t>(1 + random() % 255);
        spill.write(run.blocks[0], 0, bytes.data(), bytes.size());
        CHECK(fails(read_all));
    }
    spill.write(run.blocks[0], 0, whole.data(), whole.size());
    CHECK(!fails(read_all));
    SortedRun longer = run;
    longer.size += 10;
    ++longer.records;
    CHECK(fails([&] {
        RunReader reader(spill, longer, 64);
        while (reader.next()) {
        }
    }));
}

TEST(spill_reports_a_full_disk) {
    std::FILE* full = std::fopen("/dev/full", "wb");
    if (!full) return;
    BlockFile spill(fileno(full));
    RunWriter writer(spill);
    writer.add(record("a", 1, 1));
    CHECK(fails([&] { writer.finish(); }));
    std::fclose(full);
}

TEST(spill_merges_to_the_counts_of_one_table) {
    std::mt19937_64 random(7);
    for (int round = 0; round < 60; ++round) {
        TemporaryFile file;
        SpilledCounts spilled(file.descriptor());
        std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> expected;  // first, count
        std::uint64_t place = 0;
        for (std::size_t run = 1 + random() % 80; run > 0; --run) {
            std::map<std::string, std::pair<std::uint64_t, std::uint64_t>> table;
            for (std::size_t i = random() % 200; i > 0; --i) {
                const std::string chunk(1 + random() % 3, static_cast<char>('a' + random() % 7));
                ++place;
                for (auto* counts : {&table, &expected}) {
                    ++counts->try_emplace(chunk, place, 0).first->second.second;
                }
            }
            std::vector<Record> records;
            for (const auto& [chunk, entry] : table) {
                records.push_back(record(chunk, entry.second, entry.first));
            }
            std::vector<std::vector<Record>> tables;
            tables.push_back(records);
            tables.emplace_back();
            spilled.spill(std::move(tables), 2, 1000);
            if (random() % 2) spilled.compact(1000);
        }
        const std::uint64_t min_count = random() % 5;
        const auto tallies = spilled.merge(min_count, 1, random() % 2 ? 200 : 1 << 20);
        std::map<std::uint64_t, std::string> by_first;
        std::size_t chunks = 0, all = 0;
        for (const auto& tally : tallies) all += tally.chunks;
        for (const auto& [chunk, entry] : expected) {
            if (entry.second < min_count) continue;
            by_first[entry.first] = chunk;
            ++chunks;
        }
        CHECK(all == expected.size() && spilled.chunks() == chunks);
        Counted wanted;
        for (const auto& [first, chunk] : by_first) {
            wanted.emplace_back(chunk, expected[chunk].second);
        }
        CHECK(counted(spilled) == wanted);
        CHECK(counted(spilled) == wanted);
    }
}

TEST(spill_reuses_the_space_of_merged_runs) {
    TemporaryFile file;
    constexpr std::uint64_t kLimit = 24 * BlockFile::kBlock;
    SpilledCounts spilled(file.descriptor(), kLimit);
    // Each table takes about 5 blocks, and all together 500; but they hold the same chunks.
    std::vector<std::string> chunks;
    for (int i = 10'000; i < 60'000; ++i) chunks.push_back(std::to_string(i));
    const auto table = [&](std::uint64_t first) {
        std::vector<std::vector<Record>> tables(1);
        for (const std::string& chunk : chunks) tables[0].push_back(record(chunk, 1, first));
        return tables;
    };
    for (std::uint64_t i = 1; i <= 100; ++i) {
        spilled.spill(table(i << 14), 1, 1 << 16);
        CHECK(spilled.file_size() <= kLimit);
    }
    CHECK(spilled.bytes() > 400 * BlockFile::kBlock);
    spilled.merge(1, 1, 1 << 20);
    CHECK(spilled.file_size() <= kLimit);
    const Counted found = counted(spilled);
    CHECK(found.size() == chunks.size() && found[0].second == 100);

    SpilledCounts small(file.descriptor(), 4 * BlockFile::kBlock);
    bool full = false;
    try {
        small.spill(table(1), 1, 1 << 16);
    } catch (const SpillFull&) {
        full = true;
    }
    CHECK(full);
}

TEST(spill_counting_within_a_limit) {
    std::mt19937_64 random(3);
    std::string text;
    for (int i = 0; i < 400'000; ++i) text += ' ' + std::to_string(random() % 60'000);
    text += ' ' + std::string(100'000, 'y');
    const auto count = [&](std::size_t limit, std::size_t threads) {
        TemporaryFile file;
        ChunkCounter counter(Family::kGpt2, isa::Level::kScalar);
        if (limit) counter.limit(limit, file.descriptor());
        counter.add({text_of(text), text_of(text)}, threads);
        counter.add({text_of("new at the end")}, threads);
        if (SpilledCounts* spilled = counter.spilled()) {
            CHECK(limit && limit < 1u << 30);
            spilled->merge(1, 1, 1 << 20);
            return counted(*spilled);
        }
        CHECK(limit == 0 || limit == 1u << 30);
        Counted result;
        const auto table = counter.finish();
        for (const auto& entry : table.entries()) {
            const auto* bytes = reinterpret_cast<const char*>(entry.bytes());
            result.emplace_back(std::string(bytes, entry.size()), entry.count);
        }
        return result;
    };
    const Counted expected = count(0, 1);
    CHECK(expected.size() > 1000);
    for (const std::size_t limit : {std::size_t{1}, std::size_t{1} << 16, std::size_t{1} << 30}) {
        for (const std::size_t threads : {1, 2, 3}) CHECK(count(limit, threads) == expected);
    }
}

TEST(spill_weights) {
    TemporaryFile file;
    ChunkCounter counter(Family::kGpt2, isa::Level::kScalar);
    counter.limit(1 << 20, file.descriptor());
    for (const auto& [text, weight] :
         std::vector<std::pair<std::string, std::uint64_t>>{{"a a b", 3}, {"a c", 1}, {"c b", 4}}) {
        counter.weigh(weight);
        counter.add({text_of(text)}, 2);
    }
    SpilledCounts* spilled = counter.spilled();
    CHECK(spilled != nullptr);
    spilled->merge(1, 10, 1 << 20);
    // "a" 3 + 1, " a" 3, " b" 3 + 4, " c" 1, "c" 4
    CHECK(counted(*spilled) == Counted({{" b", 1}}));
}

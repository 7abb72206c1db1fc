// Spills counted chunks that are cut out of the input to a file, in many runs, and compares with a
// map. Then changes bytes of a run: reading it fails, or gives what was written.
#include <unistd.h>

#include <cstdio>
#include <system_error>

#include "counting/counted_stream.hpp"
#include "fuzz.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

int descriptor() {
    static std::FILE* const file = std::tmpfile();
    CHECK(file != nullptr && ftruncate(fileno(file), 0) == 0);
    return fileno(file);
}

struct Counted {
    std::uint64_t count = 0, first = 0;
    bool operator==(const Counted&) const = default;
};
using Table = std::map<std::string, Counted>;

std::vector<Record> records_of(const Table& table) {
    std::vector<Record> records;
    for (const auto& [chunk, found] : table)
        records.push_back({reinterpret_cast<const std::uint8_t*>(chunk.data()), chunk.size(),
                           found.count, found.first});
    return records;
}

std::pair<std::string, Counted> copied(const Record& record) {
    const auto* const bytes = reinterpret_cast<const char*>(record.bytes);
    return {std::string(bytes, record.size), {record.count, record.first}};
}

void spill(const Bytes& text, Random& random) {
    SpilledCounts spilled(descriptor());
    Table all;
    std::uint64_t place = 0;
    for (std::size_t run = 1 + random.below(random.below(8) ? 6 : 70); run > 0; --run) {
        std::vector<Table> tables(1 + random.below(3));
        for (std::size_t i = random.below(60); i > 0 && !text.empty(); --i) {
            const std::size_t start = random.below(text.size());
            const std::size_t length =
                1 + random.below(std::min<std::size_t>(text.size() - start, 12));
            const std::string chunk(&text[start], &text[start] + length);
            const std::uint64_t count = 1 + random.below(random.below(4) ? 3 : 1'000'000);
            ++place;
            // Tables of one run are filled by several threads, each in order.
            for (Table* table : {&tables[random.below(tables.size())], &all}) {
                Counted& found = table->try_emplace(chunk, Counted{0, place}).first->second;
                found.count += count;
            }
        }
        std::vector<std::vector<Record>> records;
        for (const Table& table : tables) records.push_back(records_of(table));
        spilled.spill(std::move(records), 1 + random.below(3), 1000);
        if (random.below(3) == 0) spilled.compact(1000);
    }
    const std::uint64_t min_count = random.below(5);
    spilled.merge(min_count, 1, random.below(2) ? 200 : 1 << 20);
    std::map<std::uint64_t, std::string> by_first;
    for (const auto& [chunk, found] : all) {
        if (found.count >= min_count) by_first[found.first] = chunk;
    }
    CHECK(spilled.chunks() == by_first.size());
    auto expected = by_first.begin();
    spilled.visit([&](const Record& record) {
        CHECK(expected != by_first.end());
        CHECK(copied(record) == std::pair(expected->second, all[expected->second]));
        ++expected;
    });
    CHECK(expected == by_first.end());

    CountedStream stream(spilled);
    std::string joined, found;
    for (const auto& [first, chunk] : by_first) joined += chunk;
    for (;;) {
        const CountedStream::Batch batch = stream.next(1 + random.below(9), 1 + random.below(99));
        if (batch.ends.empty()) break;
        CHECK(batch.ends.back() == batch.bytes.size());
        found.append(batch.bytes.begin(), batch.bytes.end());
    }
    CHECK(found == joined);
}

void damage(const Bytes& text, Random& random) {
    BlockFile file(descriptor());
    RunWriter writer(file);
    std::vector<std::pair<std::string, Counted>> written;
    for (std::size_t start = 0; start < text.size();) {
        const std::size_t length = 1 + random.below(std::min<std::size_t>(text.size() - start, 40));
        const std::string chunk(&text[start], &text[start] + length);
        written.emplace_back(
            chunk, Counted{random.next() >> random.below(64), random.next() >> random.below(64)});
        writer.add({reinterpret_cast<const std::uint8_t*>(chunk.data()), length,
                    written.back().second.count, written.back().second.first});
        start += length;
    }
    SortedRun run = writer.finish();
    if (run.blocks.empty()) return;
    Bytes bytes(std::min<std::size_t>(run.size, BlockFile::kBlock));
    file.read(run.blocks[0], 0, bytes.data(), bytes.size());
    for (std::size_t i = random.below(3); i > 0; --i)
        bytes[random.below(bytes.size())] = static_cast<std::uint8_t>(random.next());
    file.write(run.blocks[0], 0, bytes.data(), bytes.size());
    std::vector<std::pair<std::string, Counted>> found;
    try {
        RunReader reader(file, run, 1 + random.below(200));
        while (reader.next()) found.push_back(copied(reader.record()));
    } catch (const std::system_error&) {
        return;
    }
    CHECK(found == written);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    damage(input.text, input.random);
    if (input.random.below(4) == 0) spill(input.text, input.random);
    return 0;
}

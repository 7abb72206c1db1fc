// Counts the chunks of documents cut out of the input, on several threads, in memory and with a
// spill file, and compares with a map.
#include <unistd.h>

#include <cstdio>

#include "counting/chunk_counter.hpp"
#include "fuzz.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

int descriptor() {
    static std::FILE* const file = std::tmpfile();
    CHECK(file != nullptr && ftruncate(fileno(file), 0) == 0);
    return fileno(file);
}

std::string copied(const std::uint8_t* bytes, std::size_t size) {
    return {reinterpret_cast<const char*>(bytes), size};
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    const auto family = static_cast<Family>(random.below(kPatterns));
    std::vector<Bytes> documents(random.below(5));
    for (Bytes& document : documents) {
        for (std::size_t times = random.below(4) ? 1 : random.below(60); times > 0; --times) {
            const std::size_t begin = random.below(input.text.size() + 1);
            const std::size_t end = begin + random.below(input.text.size() - begin + 1);
            for (std::size_t i = begin; i < end; ++i) document.push_back(input.text[i]);
        }
        document.shrink_to_fit();
    }
    Counts expected;
    std::map<std::string, std::size_t> places;
    std::vector<std::uint64_t> chunks;
    std::vector<Text> texts;
    for (const Bytes& document : documents) {
        texts.push_back(text_of(document));
        std::uint64_t start = 0;
        chunks.push_back(0);
        for (const std::uint64_t end : chunk_ends(family, isa::Level::kScalar, texts.back())) {
            const std::string chunk = copied(&document[start], end - start);
            const auto [known, is_new] = places.try_emplace(chunk, expected.size());
            if (is_new) expected.emplace_back(chunk, 0);
            ++expected[known->second].second;
            ++chunks.back();
            start = end;
        }
    }
    for (const isa::Level level : some_levels(random)) {
        for (const bool limited : {false, random.below(4) == 0}) {
            ChunkCounter counter(family, level);
            if (limited) counter.limit(1 + random.below(1 << 16), descriptor());
            const std::size_t threads = some_threads(random);
            CHECK(counter.chunks_of(texts) == chunks);
            const auto middle = texts.begin() + static_cast<std::ptrdiff_t>(texts.size() / 2);
            counter.add({texts.begin(), middle}, threads);
            counter.add({middle, texts.end()}, threads);
            Counts found;
            if (SpilledCounts* const spilled = counter.spilled()) {
                spilled->merge(1, 1, 1 << 12);
                spilled->visit([&](const Record& record) {
                    found.emplace_back(copied(record.bytes, record.size), record.count);
                });
            } else {
                const DistinctChunks distinct = counter.finish();
                for (const DistinctChunks::Entry& entry : distinct.entries())
                    found.emplace_back(copied(entry.bytes(), entry.size()), entry.count);
            }
            CHECK(found == expected);
        }
    }
    return 0;
}

#include <limits>
#include <stdexcept>

#include "train/chunk_table.hpp"
#include "unigram/training.hpp"

namespace toksmith::unigram {

CountedWords count_stretches(const bpe::CountedSymbols& words,
                             std::vector<bpe::PieceTraits> alphabet, const bpe::PieceRules& rules) {
    ChunkTable table;
    const auto add = [&](std::uint64_t start, std::uint64_t end, std::uint64_t count) {
        table.add(reinterpret_cast<const std::uint8_t*>(words.symbols + start),
                  (end - start) * sizeof(Id), count, start);
    };
    std::uint64_t start = 0;
    for (std::size_t word = 0; word < words.ends.size(); ++word) {
        const std::uint64_t end = words.ends[word], count = words.counts[word];
        if (start == end) continue;
        for (std::uint64_t i = start + 1; i < end; ++i) {
            if (!rules.apart(alphabet[words.symbols[i - 1]], alphabet[words.symbols[i]])) continue;
            add(start, i, count);
            start = i;
        }
        add(start, end, count);
        start = end;
    }

    const std::uint64_t size = table.total_bytes() / sizeof(Id) + table.entries().size();
    if (size >= std::numeric_limits<std::uint32_t>::max()) {
        throw std::length_error("the distinct words come to 2^32 characters or more");
    }
    CountedWords result;
    result.text.reserve(size);
    result.alphabet = std::move(alphabet);
    for (const ChunkTable::Entry& entry : table.entries()) {
        result.starts.push_back(static_cast<std::uint32_t>(result.text.size()));
        result.counts.push_back(entry.count);
        const auto* symbols = words.symbols + entry.first;
        for (std::size_t i = 0; i < entry.size / sizeof(Id); ++i) {
            result.text.push_back(symbols[i] + 1);
        }
        result.text.push_back(0);
    }
    return result;
}

}  // namespace toksmith::unigram

#include "train/plain_words.hpp"

#include <algorithm>
#include <atomic>
#include <string_view>
#include <utility>

#include "parallel/parallel.hpp"
#include "train/counting_batch.hpp"

namespace toksmith {
namespace {

using Byte = std::uint8_t;

class SpacedReader {
 public:
    explicit SpacedReader(const SpacedWords& rules) : rules_(rules) {
        for (const std::string& symbol : rules.symbols) {
            starts_symbol_[static_cast<Byte>(symbol[0])] = true;
        }
    }

    // Appends the words to `text` and their ends to `ends`; false, with nothing appended, where the
    // chunk is not plain.
    bool read(const Byte* chunk, const Byte* end, std::vector<Byte>& text,
              std::vector<std::size_t>& ends) const {
        if (!rules_.line_starts && *chunk == '\n') return false;
        const std::size_t start = text.size(), words = ends.size();
        bool may_hold_symbol = starts_symbol_[*chunk];
        bool is_space = true;
        for (const Byte* p = chunk + 1; p < end; ++p) {
            const Byte letter = *p < 0x80 ? rules_.letters[*p] : 0;
            if (letter == 0 || (letter == ' ' && !rules_.skip_spaces)) {
                text.resize(start);
                ends.resize(words);
                return false;
            }
            may_hold_symbol |= starts_symbol_[*p] || starts_symbol_[letter];
            if (letter == ' ') {
                is_space = true;
                continue;
            }
            if (is_space) {
                if (text.size() > start) ends.push_back(text.size());
                text.push_back(' ');
                is_space = false;
            }
            text.push_back(letter);
        }
        if (text.size() == start) return false;
        ends.push_back(text.size());
        if (may_hold_symbol && (holds_symbol(chunk, end) ||
                                holds_symbol(text.data() + start, text.data() + text.size()))) {
            text.resize(start);
            ends.resize(words);
            return false;
        }
        return true;
    }

 private:
    bool holds_symbol(const Byte* begin, const Byte* end) const {
        const std::string_view text(reinterpret_cast<const char*>(begin),
                                    static_cast<std::size_t>(end - begin));
        return std::any_of(rules_.symbols.begin(), rules_.symbols.end(),
                           [&](const auto& symbol) { return text.find(symbol) != text.npos; });
    }

    const SpacedWords& rules_;
    std::array<bool, 256> starts_symbol_{};
};

class ClassReader {
 public:
    explicit ClassReader(const ClassWords& rules) : rules_(rules) {}

    bool read(const Byte* chunk, const Byte* end, std::vector<Byte>& text,
              std::vector<std::size_t>& ends) const {
        for (const Byte* p = chunk; p < end; ++p) {
            if (*p >= 0x80 || rules_.classes[*p] == ClassWords::kNotPlain) return false;
        }
        Byte last = ClassWords::kRemoved;
        for (const Byte* p = chunk; p < end; ++p) {
            const Byte kind = rules_.classes[*p];
            if ((kind != last || kind == ClassWords::kAlone) && last != ClassWords::kRemoved) {
                ends.push_back(text.size());
            }
            if (kind != ClassWords::kRemoved) text.push_back(rules_.letters[*p]);
            last = kind;
        }
        if (last != ClassWords::kRemoved) ends.push_back(text.size());
        return true;
    }

 private:
    const ClassWords& rules_;
};

template <typename Reader>
PlainWords read_all(const WordChunks& chunks, const Reader& reader, std::size_t threads) {
    constexpr std::size_t kBatch = 64, kJob = kBatch << 8;  // chunks
    const std::size_t jobs = (chunks.size + kJob - 1) / kJob;
    threads = std::max<std::size_t>(1, std::min(threads, jobs));
    PlainWords result;
    result.is_plain.resize(chunks.size);
    std::vector<ChunkTable> tables(threads);
    std::atomic<std::size_t> next{0};
    const auto start_of = [&](std::size_t i) { return i > 0 ? chunks.ends[i - 1] : 0; };
    run_on_threads(threads, [&](std::size_t thread) {
        CountingBatch batch;
        for (std::size_t job = next++; job < jobs; job = next++) {
            const std::size_t end = std::min(chunks.size, (job + 1) * kJob);
            for (std::size_t i = job * kJob; i < end;) {
                const std::uint64_t first = start_of(i);
                for (const std::size_t stop = std::min(end, i + kBatch); i < stop; ++i) {
                    result.is_plain[i] =
                        reader.read(chunks.bytes + start_of(i), chunks.bytes + chunks.ends[i],
                                    batch.text, batch.ends);
                    batch.counts.resize(batch.ends.size(), chunks.counts[i]);
                }
                batch.count(tables[thread], first);  // no chunk makes more words than it has bytes
            }
        }
    });
    result.words = DistinctChunks(std::move(tables), threads);
    return result;
}

}  // namespace

PlainWords plain_words(const WordChunks& chunks, const SpacedWords& rules, std::size_t threads) {
    return read_all(chunks, SpacedReader(rules), threads);
}

PlainWords plain_words(const WordChunks& chunks, const ClassWords& rules, std::size_t threads) {
    return read_all(chunks, ClassReader(rules), threads);
}

}  // namespace toksmith

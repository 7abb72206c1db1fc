#include "training/unigram/words.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <utility>

#include "base/stop.hpp"
#include "training/ordered_bytes.hpp"
#include "training/unigram/sorter.hpp"
#include "training/unigram/suffix_runs.hpp"

namespace toksmith::unigram {
namespace {

constexpr std::uint64_t kBlockNodes = 1 << 16;

// The memory in bytes that sorting words and their suffixes takes, for each character and each
// word.
constexpr std::size_t kOfCharacter = 24, kOfWord = 48;
// The share of the memory that words may take while they are added: their source takes some, too.
constexpr std::size_t kShare = 4;

CountedWords sorted(CountedWords words) {
    std::vector<std::uint32_t> order = words.starts;
    Sorter<false>(words, std::numeric_limits<std::size_t>::max())
        .sort(order.data(), order.data() + order.size(), 0);
    CountedWords result;
    result.alphabet = words.alphabet;
    result.text.reserve(words.text.size());
    InterruptionPoints<(1 << 16)> points;
    for (std::size_t k = 0; k < order.size(); ++k) {
        points.step();
        const auto word = std::lower_bound(words.starts.begin(), words.starts.end(), order[k]);
        const auto number = static_cast<std::size_t>(word - words.starts.begin());
        const std::uint32_t start = order[k], end = words.end(number);
        if (k > 0) {
            const std::uint32_t same = common<false>(words, order[k - 1], start);
            if (start + same == end && words.text[order[k - 1] + same] == 0) {
                result.counts.back() += words.counts[number];
                continue;
            }
        }
        result.counts.push_back(words.counts[number]);
        result.starts.push_back(static_cast<std::uint32_t>(result.text.size()));
        points.in_parts(end + 1 - start, [&](std::size_t first, std::size_t last) {
            result.text.insert(result.text.end(), words.text.data() + start + first,
                               words.text.data() + start + last);
        });
    }
    result.text.shrink_to_fit();
    return result;
}

SortedRun write(const CountedWords& words, BlockFile& file) {
    RunWriter writer(file);
    std::vector<std::uint8_t> bytes;
    InterruptionPoints<(1 << 16)> points;
    for (std::size_t word = 0; word < words.starts.size(); ++word) {
        bytes.clear();
        const std::uint32_t start = words.starts[word];
        points.in_parts(words.end(word) - start, [&](std::size_t first, std::size_t last) {
            for (; first < last; ++first) bpe::write_ordered(words.text[start + first] - 1, bytes);
        });
        writer.add({bytes.data(), bytes.size(), words.counts[word], 0});
    }
    return writer.finish();
}

class MemoryReader : public WordReader {
 public:
    explicit MemoryReader(const CountedWords& words) : words_(words) {}

 protected:
    bool read(std::vector<std::uint32_t>& word, std::uint64_t& count) override {
        if (next_ == words_.starts.size()) return false;
        const auto text = words_.text.begin();
        word.assign(text + words_.starts[next_], text + words_.end(next_));
        count = words_.counts[next_++];
        return true;
    }

 private:
    const CountedWords& words_;
    std::size_t next_ = 0;
};

class RunsReader : public WordReader {
 public:
    RunsReader(BlockFile& file, const std::vector<SortedRun>& runs, std::size_t memory)
        : records_(file, runs, memory) {}

 protected:
    bool read(std::vector<std::uint32_t>& word, std::uint64_t& count) override {
        const Record* record = records_.next();
        if (!record) return false;
        word.clear();
        const std::uint8_t* p = record->bytes;
        while (p < record->bytes + record->size) word.push_back(bpe::read_ordered(p) + 1);
        count = record->count;
        return true;
    }

 private:
    SummedRuns records_;
};

}  // namespace

bool WordReader::next(WordBlock& block) {
    block.text.clear();
    block.words.clear();
    if (!std::exchange(has_begun_, true)) has_word_ = read(waiting_, count_);
    InterruptionPoints<4096> points;
    std::uint64_t nodes = 0;
    while (has_word_ && nodes < kBlockNodes) {
        points.step();
        block.text.insert(block.text.end(), waiting_.begin(), waiting_.end());
        block.words.push_back({static_cast<std::uint32_t>(block.text.size()),
                               block.words.empty() ? 0 : shared_, count_});
        nodes += waiting_.size() - shared_;
        std::swap(before_, waiting_);
        has_word_ = read(waiting_, count_);
        const auto [same, other] =
            std::mismatch(before_.begin(), before_.end(), waiting_.begin(), waiting_.end());
        shared_ = static_cast<std::uint32_t>(same - before_.begin());
    }
    return !block.words.empty();
}

WordStore::WordStore(std::vector<bpe::PieceTraits> alphabet, const Options& options)
    : options_(options), alphabet_(std::move(alphabet)), character_counts_(alphabet_.size()) {
    words_.alphabet = alphabet_.size();
    if (options.descriptor >= 0) file_.emplace(options.descriptor, options.space);
}

void WordStore::add(const bpe::CountedSymbols& words) {
    Intact::Change change(intact_);
    const std::size_t most = file_ ? options_.memory / kShare : 0;
    InterruptionPoints<(1 << 16)> points;
    std::uint64_t count = 0;
    const auto end_part = [&] {
        words_.text.push_back(0);
        if (words_.text.size() >= std::numeric_limits<std::uint32_t>::max()) {
            throw std::length_error("the distinct words come to 2^32 characters or more");
        }
        words_.counts.push_back(count);
    };
    std::uint64_t i = 0;
    for (std::size_t word = 0; word < words.ends.size(); ++word) {
        const std::uint64_t first = i, end = words.ends[word];
        count = words.counts[word];
        for (; i < end; ++i) {
            points.step();
            const Id symbol = words.symbols[i];
            const bool is_apart = i > first && options_.rules.apart(alphabet_[words.symbols[i - 1]],
                                                                    alphabet_[symbol]);
            if (is_apart) end_part();
            if (is_apart || i == first) {
                words_.starts.push_back(static_cast<std::uint32_t>(words_.text.size()));
            }
            words_.text.push_back(symbol + 1);
            character_counts_[symbol] += count;
        }
        if (end > first) end_part();
        if (file_ && kOfCharacter * words_.text.size() + kOfWord * words_.starts.size() > most) {
            spill();
        }
    }
    change.keep_usable();
}

void WordStore::spill() {
    CountedWords words = sorted(std::exchange(words_, {}));
    words_.alphabet = alphabet_.size();
    if (words.starts.empty()) return;
    runs_.push_back(write(words, *file_));
    if (options_.has_pieces) return;
    suffixes_.push_back(
        write_suffixes(words, options_.rules.longest + 1, *file_, Workers{options_.threads}));
    substrings_ += suffixes_.back().records;
}

void WordStore::finish() {
    Intact::Change change(intact_);
    if (in_file()) {
        spill();
    } else {
        words_ = sorted(std::exchange(words_, {}));
        substrings_ = words_.text.size();
    }
    change.keep_usable();
}

double WordStore::characters() const {
    double sum = 1;
    for (const std::uint64_t count : character_counts_) sum += static_cast<double>(count);
    return sum;
}

std::vector<SortedRun> WordStore::take_suffixes() { return std::exchange(suffixes_, {}); }

std::unique_ptr<WordReader> WordStore::reader() {
    if (!in_file()) return std::make_unique<MemoryReader>(words_);
    return std::make_unique<RunsReader>(*file_, runs_, options_.memory / 8);
}

void WordStore::clear() {
    words_ = {};
    for (const SortedRun& run : runs_) {
        for (const std::uint32_t block : run.blocks) file_->free(block);
    }
    runs_.clear();
}

}  // namespace toksmith::unigram

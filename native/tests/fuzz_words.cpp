// Counts the words of lines, plain and not, and compares with counting chunk by chunk.
#include <optional>

#include "counting/word_counter.hpp"
#include "fuzz.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

class Tally {
 public:
    void add(const std::string& chunk) {
        const auto [known, is_new] = places_.try_emplace(chunk, counts_.size());
        if (is_new) counts_.emplace_back(chunk, 0);
        ++counts_[known->second].second;
    }
    const Counts& counts() const { return counts_; }

 private:
    std::map<std::string, std::size_t> places_;
    Counts counts_;
};

Counts counts_of(const DistinctChunks& chunks) {
    Counts counts;
    for (const DistinctChunks::Entry& entry : chunks.entries()) {
        counts.emplace_back(std::string(reinterpret_cast<const char*>(entry.bytes()), entry.size()),
                            entry.count);
    }
    return counts;
}

// The words of a chunk, or nothing if it is not plain.
std::optional<std::vector<std::string>> plain_words(const std::string& chunk,
                                                    const PlainRules& rules) {
    std::string letters;
    for (const char byte : chunk) {
        const auto code = static_cast<std::uint8_t>(byte);
        if (code >= 0x80 || rules.letters[code] == 0) return {};
        letters += static_cast<char>(rules.letters[code]);
    }
    for (const std::string& symbol : rules.symbols) {
        if (chunk.find(symbol) != chunk.npos || letters.find(symbol) != letters.npos) return {};
    }
    std::vector<std::string> words;
    for (std::size_t i = 0; i < letters.size(); ++i) {
        const auto left = static_cast<std::uint8_t>(letters[i > 0 ? i - 1 : 0]);
        const auto right = static_cast<std::uint8_t>(letters[i]);
        if (i == 0 || (rules.ends[left] & rules.starts[right]) != 0) words.emplace_back();
        words.back() += letters[i];
    }
    if (std::ranges::count(words, " ") > 0 && !rules.drop_spaces) return {};
    std::erase(words, " ");
    return words;
}

PlainRules random_rules(Random& random) {
    PlainRules rules{.drop_spaces = random.below(3) > 0};
    for (std::size_t code = 1; code < 128; ++code) {
        const auto kind = static_cast<std::uint8_t>(1u << (code / (1 + random.state % 40) % 3));
        rules.letters[code] = static_cast<std::uint8_t>(random.below(30) ? code : 0);
        rules.ends[code] = kind | 8;
        rules.starts[code] = static_cast<std::uint8_t>(7 & ~kind);
    }
    for (std::uint8_t code = 'A'; code <= 'Z'; ++code) {
        if (random.below(2)) rules.letters[code] = code | 0x20;
    }
    for (const char space : {' ', '\t', '\r'})
        rules.letters[static_cast<std::uint8_t>(space)] = ' ';
    rules.letters['\n'] = random.below(4) ? ' ' : 0;
    rules.starts[' '] = 15;
    for (std::size_t i = random.below(3); i > 0; --i) {
        rules.symbols.emplace_back(1 + random.below(2), static_cast<char>('!' + random.below(90)));
    }
    return rules;
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    WordCounter::Options options{.longest = random.below(3) ? 0 : 1 + random.below(300),
                                 .reserved = random.below(2) == 0};
    if (random.below(8)) options.plain = random_rules(random);

    // Windows and pieces are longer than most inputs, so small ones are used as well.
    std::vector<Bytes> documents(1 + random.below(3));
    for (Bytes& document : documents) {
        for (std::size_t times = random.below(4) ? 1 : random.below(60); times > 0; --times) {
            const std::size_t begin = random.below(input.text.size() + 1);
            const std::size_t end = begin + random.below(input.text.size() - begin + 1);
            for (std::size_t i = begin; i < end; ++i) document.push_back(input.text[i]);
            if (random.below(2)) document.push_back(random.below(3) ? ' ' : '\n');
        }
        document.shrink_to_fit();
    }

    Tally chunks, words;
    WordCounter::Lines lines;
    for (const Bytes& document : documents) {
        const std::string text(document.begin(), document.end());
        for (std::size_t begin = 0; begin <= text.size();) {
            const std::size_t end = std::min(text.find('\n', begin), text.size());
            const std::string line = text.substr(begin, end - begin);
            begin = end + 1;
            if (line.empty()) continue;
            if (options.longest && line.size() > options.longest) {
                ++lines.too_long;
                continue;
            }
            if (options.reserved && line.find("\xE2\x96\x85") != line.npos) {
                ++lines.reserved;
                continue;
            }
            ++lines.counted;
            std::string chunk = "\n";
            const auto finish = [&] {
                const auto found = options.plain ? plain_words(chunk, *options.plain)
                                                 : std::optional<std::vector<std::string>>{};
                if (!found) chunks.add(chunk);
                for (const std::string& word : found.value_or(std::vector<std::string>{})) {
                    words.add(word);
                }
                chunk.clear();
            };
            for (const char byte : line) {
                const char last = chunk.back();
                if (byte == ' ' && last > ' ' && last < 0x7F) finish();
                chunk += byte;
            }
            finish();
        }
    }

    for (const std::size_t threads : {std::size_t{1}, some_threads(random)}) {
        WordCounter counter(options);
        std::vector<Text> texts;
        for (const Bytes& document : documents) texts.push_back(text_of(document));
        counter.add(texts, threads);
        CHECK(counter.lines().counted == lines.counted);
        CHECK(counter.lines().too_long == lines.too_long);
        CHECK(counter.lines().reserved == lines.reserved);
        const auto [others, plain] = counter.finish();
        CHECK(counts_of(others) == chunks.counts());
        CHECK(counts_of(plain) == words.counts());
    }
    return 0;
}

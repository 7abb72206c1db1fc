// Counting chunks, and training on the counts.
#include <algorithm>
#include <array>
#include <stdexcept>

#include "counting/chunk_counter.hpp"
#include "counting/word_counter.hpp"
#include "kit.hpp"
#include "training/bpe/merge_criteria.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

struct Corpus {
    Bytes bytes;
    std::vector<std::uint64_t> ends, counts;
    bpe::CountedChunks chunks;

    void add(std::string_view chunk, std::uint64_t count) {
        bytes.insert(bytes.end(), chunk.begin(), chunk.end());
        ends.push_back(bytes.size());
        counts.push_back(count);
        chunks = {bytes.data(), ends, counts};
    }
};

using Counts = std::vector<std::pair<std::string, std::uint64_t>>;

Counts counts_of(const DistinctChunks& table) {
    Counts counts;
    for (const DistinctChunks::Entry& entry : table.entries()) {
        const auto* bytes = reinterpret_cast<const char*>(entry.bytes());
        counts.emplace_back(std::string(bytes, entry.size()), entry.count);
    }
    return counts;
}

using List = std::vector<std::uint64_t>;

}  // namespace

TEST(train_literals) {
    Corpus corpus;
    corpus.add("aaabdaaabac", 1);
    const auto first = bpe::train(corpus.chunks, {.tokens = 3}, {});
    CHECK(same(first.merges, {{'a', 'a', 256}, {256, 'a', 257}, {257, 'b', 258}}));
    CHECK(first.counts == List({4, 2, 2}) && first.tokens == List({9, 7, 5}));
    const auto smallest =
        bpe::train(corpus.chunks, {.tokens = 3, .ties = bpe::Ties::kSmallestPair}, {});
    CHECK(same(smallest.merges, {{'a', 'a', 256}, {'a', 'b', 257}, {256, 257, 258}}));
    const auto frequent = bpe::train(corpus.chunks, {.tokens = 9, .min_frequency = 3}, {});
    CHECK(frequent.merges.size() == 1);
    const auto limited = bpe::train(corpus.chunks, {.tokens = 9, .max_token_length = 2}, {});
    CHECK(same(limited.merges, {{'a', 'a', 256}, {'a', 'b', 257}, {'a', 'c', 258}}));
    CHECK(limited.tokens == List({9, 7, 6}));
    const auto stopped = bpe::train(corpus.chunks, {.tokens = 9}, [](const bpe::Training& so_far) {
        return so_far.merges.back().id < 257;
    });
    CHECK(stopped.merges.size() == 2);
    CHECK(bpe::train({}, {.tokens = 5}, {}).merges.empty());
}

TEST(train_smallest_pair_goes_by_the_byte_alphabet) {
    Corpus corpus;
    corpus.add(" b", 1);
    corpus.add("zz", 1);
    const auto trained =
        bpe::train(corpus.chunks, {.tokens = 2, .ties = bpe::Ties::kSmallestPair}, {});
    CHECK(same(trained.merges, {{'z', 'z', 256}, {' ', 'b', 257}}));
}

TEST(train_equals_recounting) {
    Random random{6};
    for (int round = 0; round < 150; ++round) {
        Corpus corpus;
        const std::size_t letters = 1 + random.below(4);
        for (std::size_t chunk = random.below(12); chunk-- > 0;) {
            std::string text(random.below(30), ' ');
            for (char& c : text) c = static_cast<char>('a' + random.below(letters));
            corpus.add(text, 1 + random.below(3));
        }
        const auto trained = bpe::train(corpus.chunks, {.tokens = 50}, {});
        CHECK(same(trained.merges, trained_slowly(corpus.chunks, 50)));
    }
}

namespace {

// Words of the letters from 'a' on; symbol i is the i-th letter.
struct Words {
    std::vector<Id> symbols;
    std::vector<std::uint64_t> ends, counts;
    bpe::CountedSymbols counted;

    void add(std::string_view word, std::uint64_t count) {
        for (const char letter : word) symbols.push_back(static_cast<Id>(letter - 'a'));
        ends.push_back(symbols.size());
        counts.push_back(count);
        counted = {symbols.data(), ends, counts};
    }
};

}  // namespace

namespace {

bool alike(const bpe::Training& a, const bpe::Training& b) {
    return same(a.merges, b.merges) && a.counts == b.counts && a.tokens == b.tokens;
}

// Whether learn(sharing) returns the same for any number of threads, each of which has work.
template <typename Learn>
bool is_same_on_threads(Learn learn) {
    const bpe::Training alone = learn(bpe::Sharing{});
    return std::ranges::all_of(std::array<std::size_t, 4>{1, 2, 3, 8}, [&](std::size_t threads) {
        return alike(learn(bpe::Sharing{.threads = threads, .least = 1}), alone);
    });
}

// Random words of some letters, most of them short, with random counts.
Words random_words(Random& random, std::size_t words, std::size_t letters) {
    Words result;
    for (std::size_t i = 0; i < words; ++i) {
        std::string word(random.below(i % 100 ? 20 : 3000), ' ');
        for (char& letter : word) letter = static_cast<char>('a' + random.below(letters));
        result.add(word, i % 50 ? 1 + random.below(4) : std::uint64_t{1} << random.below(40));
    }
    return result;
}

bpe::Training train_likelihood(const Words& words, std::size_t alphabet, std::size_t tokens,
                               std::uint64_t min_frequency, const bpe::Sharing& sharing = {}) {
    bpe::ChunkStore store(0, -1);
    store.add(words.counted);
    return bpe::train_likelihood(store, alphabet, tokens, min_frequency, sharing, ~std::size_t{0},
                                 {});
}

}  // namespace

TEST(train_is_the_same_on_any_number_of_threads) {
    Random random{8};
    for (const std::size_t letters : {1, 2, 5, 20}) {
        const Words words = random_words(random, 1500, letters);
        const Bytes bytes(words.symbols.begin(), words.symbols.end());
        const bpe::CountedChunks chunks{bytes.data(), words.ends, words.counts};
        const std::vector<bpe::PieceTraits> alphabet(letters, {.first = 2, .last = 2});
        for (const bpe::Ties ties : {bpe::Ties::kFirstSeen, bpe::Ties::kSmallestPair}) {
            CHECK(is_same_on_threads([&](const bpe::Sharing& sharing) {
                return bpe::train(chunks, {.tokens = 300, .ties = ties, .sharing = sharing}, {});
            }));
        }
        // More symbols than the array of pairs has.
        CHECK(is_same_on_threads([&](const bpe::Sharing& sharing) {
            return bpe::train(words.counted, {.size = 3000}, {.tokens = 300, .sharing = sharing},
                              {});
        }));
        CHECK(is_same_on_threads([&](const bpe::Sharing& sharing) {
            return train_likelihood(words, letters, 300, 1, sharing);
        }));
        CHECK(is_same_on_threads([&](const bpe::Sharing& sharing) {
            return bpe::train_pieces(words.counted, 0, alphabet, {}, 300, sharing, {});
        }));
    }
}

TEST(train_is_stopped_on_threads) {
    Random random{9};
    const Words words = random_words(random, 200, 3);
    const bpe::TrainingOptions options{.tokens = 50, .sharing = {.threads = 3, .least = 1}};
    const auto stopped =
        bpe::train(words.counted, {.size = 3}, options,
                   [](const bpe::Training& so_far) { return so_far.merges.size() < 7; });
    CHECK(stopped.merges.size() == 7);
    CHECK_THROWS(bpe::train(words.counted, {.size = 3}, options,
                            [](const bpe::Training&) -> bool { throw std::range_error("stop"); }),
                 std::range_error);
}

namespace {

// Requests a stop when the first merge puts its new pairs into the queue.
struct StopsAfterFirstMerge : bpe::MostFrequent<false> {
    explicit StopsAfterFirstMerge(Stop& stop) : MostFrequent({}, 0), stop_(stop) {}

    void made(Id, Id) { is_merging_ = true; }
    std::uint64_t worth(const bpe::Pair& pair) const {
        if (is_merging_) stop_.request();
        return MostFrequent::worth(pair);
    }

 private:
    Stop& stop_;
    bool is_merging_ = false;
};

// The number of merges that were done when the stop during the first one ended training.
std::size_t merges_at_stop(const Words& words, std::size_t letters) {
    Stop stop;
    const Stop::Scope scope(stop);
    StopsAfterFirstMerge criterion(stop);
    bpe::MergeTrainer trainer(words.counted, letters, 1, criterion, {.threads = 1, .least = 1});
    std::size_t merges = 0;
    const auto watch = [&](const bpe::Training& so_far) {
        merges = so_far.merges.size();
        return true;
    };
    CHECK_THROWS(trainer.run(9, watch), Stopped);
    return merges;
}

}  // namespace

// The first merge adds 20,000 positions, enough for the trainer to drop outdated ones.
TEST(train_is_stopped_while_it_sifts_the_positions_of_one_pair) {
    Words words;
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += "ab";
    words.add(text, 1);
    CHECK(merges_at_stop(words, 2) == 0);
}

TEST(train_is_stopped_while_it_copies_the_positions_of_many_pairs) {
    Words words;
    std::string text;
    for (int i = 0; i < 20'000; ++i) text += {'a', 'b', static_cast<char>('c' + i % 24)};
    words.add(text, 1);
    CHECK(merges_at_stop(words, 26) == 0);
}

TEST(train_goes_on_from_merged_chunks) {
    // aaabdaaabac after aa (id 256) and aaa (257): 257 b d 257 b a c.
    const std::vector<Id> symbols{257, 'b', 'd', 257, 'b', 'a', 'c'};
    const std::vector<std::uint64_t> ends{symbols.size()}, counts{1};
    const bpe::CountedSymbols merged{symbols.data(), ends, counts};
    bpe::Alphabet alphabet{.size = 258, .lengths = std::vector<std::uint32_t>(258, 1)};
    alphabet.lengths[256] = 2;
    alphabet.lengths[257] = 3;
    const auto next = bpe::train(merged, alphabet, {.tokens = 1}, {});
    CHECK(same(next.merges, {{257, 'b', 258}}) && next.tokens == List({5}));
    const auto limited = bpe::train(merged, alphabet, {.tokens = 1, .max_token_length = 3}, {});
    CHECK(same(limited.merges, {{'b', 'd', 258}}));
    alphabet.places.resize(258);
    for (std::uint32_t id = 0; id < 258; ++id) alphabet.places[id] = 257 - id;
    const auto smallest =
        bpe::train(merged, alphabet,
                   {.tokens = 2, .ties = bpe::Ties::kSmallestPair, .max_token_length = 2}, {});
    CHECK(same(smallest.merges, {{'b', 'd', 258}, {'b', 'a', 259}}));
}

TEST(train_symbols) {
    Words words;
    words.add("abab", 1);
    words.add("cab", 2);
    const auto trained = bpe::train(words.counted, {.size = 3}, {.tokens = 9}, {});
    CHECK(same(trained.merges, {{0, 1, 3}, {2, 3, 4}, {3, 3, 5}}));
    CHECK(trained.counts == List({4, 2, 1}));
    CHECK(bpe::train(bpe::CountedSymbols{}, {.size = 3}, {.tokens = 5}, {}).merges.empty());
}

TEST(train_likelihood) {
    Words words;  // a hug, pug, pun, bun, hugs: h=a u=b g=c p=d n=e b=f s=g
    words.add("abc", 10);
    words.add("dbc", 5);
    words.add("dbe", 12);
    words.add("fbe", 4);
    words.add("abcg", 5);
    const auto trained = train_likelihood(words, 7, 3, 1);
    // count(c g) / (count(c) * count(g)) = 5 / (20 * 5). The next ones have 1 / 36; the more
    // frequent comes first.
    CHECK(same(trained.merges, {{2, 6, 7}, {3, 1, 8}, {0, 1, 9}}));
    CHECK(trained.counts == List({5, 17, 15}));
    CHECK(train_likelihood(words, 7, 1, 16).counts == List({20}));
}

TEST(train_pieces) {
    Words words;
    words.add("abcab", 3);
    words.add("ba", 1);
    using Traits = bpe::PieceTraits;
    const Traits latin{.first = 2, .last = 2}, greek{.first = 3, .last = 3};
    const std::vector<Traits> alphabet{latin, latin, greek};
    const auto trained = bpe::train_pieces(words.counted, 0, alphabet, {}, 9, {}, {});
    CHECK(same(trained.merges, {{0, 1, 3}, {1, 0, 4}}));
    CHECK(trained.counts == List({6, 1}));
    const auto mixed = bpe::train_pieces(words.counted, 0, alphabet, {.split_by_script = false}, 9,
                                         {.threads = 2}, {});
    CHECK(mixed.merges.size() == 4);
    words.add("ab", 2);
    const auto whole = bpe::train_pieces(words.counted, 0, alphabet, {}, 9, {}, {});
    const auto partly = bpe::train_pieces(words.counted, 1, alphabet, {}, 9, {}, {});
    CHECK(whole.merges.size() == 2 && same(partly.merges, whole.merges));
    CHECK(partly.counts == whole.counts && partly.tokens == whole.tokens);
    const auto shorter = bpe::train_pieces(words.counted, 0, alphabet, {.longest = 1}, 9, {}, {});
    CHECK(shorter.merges.empty());
}

TEST(piece_rules_of_spaces) {
    using Traits = bpe::PieceTraits;
    const Traits letter{.first = 2, .last = 2};
    const Traits space{.spaces = 1, .starts_with_space = true, .ends_with_space = true};
    const bpe::PieceRules plain, suffix{.space_as_suffix = true}, spaces{.only_spaces = true};
    CHECK(plain.allow(space, letter) && !plain.allow(letter, space) && !plain.allow(space, space));
    CHECK(suffix.allow(letter, space) && !suffix.allow(space, letter));
    CHECK(spaces.allow(space, space) && !spaces.allow(joined(space, space), letter));
    const bpe::PieceRules whole{.split_by_space = false};
    CHECK(whole.allow(letter, joined(space, letter)) && !whole.allow(letter, space));
}

TEST(count_words_of_lines) {
    const Bytes text = bytes_of("a b  c\n\na b\xC3\xA9 d"), long_line = bytes_of("aaaa bbbb\nq");
    WordCounter counter({.longest = 8, .reserved = true});
    counter.add({text_of(text), text_of(long_line)}, 2);
    CHECK(counter.lines().counted == 3 && counter.lines().too_long == 1);
    CHECK(counts_of(counter.finish().chunks) ==
          Counts({{"\na", 2}, {" b", 1}, {"  c", 1}, {" b\xC3\xA9 d", 1}, {"\nq", 1}}));
    const Bytes reserved = bytes_of("x\xE2\x96\x85\nab c");
    WordCounter lines({.words = false, .reserved = true});
    lines.add({text_of(reserved), text_of(Bytes())}, 1);
    CHECK(lines.lines().reserved == 1);
    CHECK(counts_of(lines.finish().chunks) == Counts({{"ab c", 1}}));
}

TEST(count_plain_words_of_lines) {
    PlainRules rules{.symbols = {"<s>"}};
    for (std::uint8_t letter = '!'; letter < 0x7F; ++letter) {
        const bool is_small = letter >= 'a' && letter <= 'z';
        rules.letters[letter] = letter;
        rules.ends[letter] = is_small ? 1 : 2;
        rules.starts[letter] = is_small ? 2 : 1;
    }
    for (const char space : {' ', '\n', '\t'})
        rules.letters[static_cast<std::uint8_t>(space)] = ' ';
    rules.ends[' '] = 4;
    rules.starts[' '] = 7;
    for (std::size_t i = 0; i < 128; ++i) rules.ends[i] |= 4;
    const Bytes text = bytes_of("ab, c  ab,\n\nb\xC3\xA9. ab\t<s a<s>b <c\nab\x01 b ");
    for (const std::size_t threads : {1, 3}) {
        rules.drop_spaces = true;
        WordCounter counter({.plain = rules});
        counter.add({text_of(text), text_of(text)}, threads);
        CHECK(counter.lines().counted == 6);
        const auto [chunks, plain] = counter.finish();
        CHECK(counts_of(chunks) == Counts({{"\nb\xC3\xA9.", 2}, {" a<s>b", 2}, {"\nab\x01 b", 2}}));
        CHECK(counts_of(plain) ==
              Counts({{" ab", 6}, {",", 4}, {" c", 2}, {" <", 4}, {"s", 2}, {"c", 2}}));
        rules.drop_spaces = false;
        WordCounter strict({.plain = rules});
        strict.add({text_of(text)}, threads);
        const auto [others, words] = strict.finish();
        CHECK(counts_of(others).size() == 5);
        CHECK(counts_of(words).size() == 6);
    }
}

TEST(plain_words_do_not_depend_on_how_lines_are_grouped) {
    PlainRules rules;
    for (std::uint8_t letter = 'a'; letter <= 'z'; ++letter) rules.letters[letter] = letter;
    rules.letters[' '] = rules.letters['\n'] = ' ';
    rules.ends.fill(1);
    rules.starts[' '] = 1;
    Random random{11};
    std::string text;
    Counts expected;
    const auto add = [&](const std::string& word) {
        const auto known = std::find_if(expected.begin(), expected.end(),
                                        [&](const auto& entry) { return entry.first == word; });
        if (known == expected.end()) {
            expected.emplace_back(word, 1);
        } else {
            ++known->second;
        }
    };
    while (text.size() < 40'000) {  // words, lines and spaces of all lengths
        const std::size_t size =
            random.below(200) == 0 ? 3000 + random.below(9000) : random.below(4);
        std::string word;
        for (std::size_t i = 0; i < size; ++i) word += static_cast<char>('a' + random.below(3));
        if (size > 0) add(" " + word);
        text += word + (random.below(9) == 0 ? "\n" : " ");
    }
    const Bytes bytes = bytes_of(text);
    WordCounter counter({.plain = rules});
    counter.add({text_of(bytes)}, 1);
    const auto [chunks, plain] = counter.finish();
    CHECK(counts_of(chunks).empty());
    CHECK(counts_of(plain) == expected);
}

TEST(count_literals) {
    const Bytes text = bytes_of("a b a b"), more = bytes_of("c b");
    ChunkCounter counter(Family::kGpt2, isa::best());
    counter.add({text_of(text), text_of(more)}, 2);
    const Bytes given = bytes_of("zz");
    counter.add_chunks({text_of(given), text_of(Bytes())}, {9, 1});
    CHECK(counts_of(counter.finish()) ==
          Counts({{"a", 1}, {" b", 3}, {" a", 1}, {"c", 1}, {"zz", 9}}));
    ChunkCounter empty(Family::kGpt2, isa::best());
    CHECK(counts_of(empty.finish()).empty());
}

TEST(count_is_the_same_on_any_number_of_threads) {
    Random random{7};
    Bytes text;
    while (text.size() < 2'700'000) {
        const Bytes page = random_text(random, 3000);
        text.insert(text.end(), page.begin(), page.end());
    }
    Counts expected;
    for (const isa::Level level : levels()) {
        for (std::size_t threads = 1; threads <= 4; ++threads) {
            ChunkCounter counter(Family::kCl100k, level);
            counter.add({text_of(text)}, threads);
            const Counts counts = counts_of(counter.finish());
            if (expected.empty()) expected = counts;
            CHECK(counts == expected);
        }
    }
    std::string joined;
    std::uint64_t total = 0;
    for (const auto& [chunk, count] : expected) total += chunk.size() * count;
    CHECK(total == text.size());
}

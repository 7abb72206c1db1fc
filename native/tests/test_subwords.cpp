// The byte trie, merging of symbols, and models of pieces, compared with slow implementations.
#include "subword_kit.hpp"

#include "encode/encoder.hpp"
#include "fused/model.hpp"
#include "models/bpe/character_model.hpp"
#include "models/bpe/symbols.hpp"
#include "models/unigram/score_bound.hpp"
#include "vocab/byte_trie.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

// The longest token that is a prefix of the text; of equal tokens the first.
Id longest_slowly(const std::vector<std::string>& tokens, std::string_view text) {
    Id best = ByteTrie::kNone;
    for (Id id = 0; id < tokens.size(); ++id) {
        if (tokens[id].empty() || !text.starts_with(tokens[id])) continue;
        if (best == ByteTrie::kNone || tokens[id].size() > tokens[best].size()) best = id;
    }
    return best;
}

// A model whose normalizer leaves ASCII unchanged, and whose splitter cuts at line breaks.
std::shared_ptr<FusedModel> by_lines(std::shared_ptr<const Model> model) {
    const auto fill = [](std::uint32_t number) {
        auto block = std::make_unique<CharacterTable::Block>();
        for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
            const std::uint32_t code = number * CharacterTable::kBlock + i;
            const bool breaks = code == '\n';
            const auto begin = static_cast<std::uint32_t>(block->units.size());
            const auto cut_class = static_cast<std::uint16_t>(breaks ? 2 : 1);
            block->rows[i] = {.left = cut_class,
                              .right = cut_class,
                              .size = 3,
                              .is_context_sensitive = false,
                              .joins = false,
                              .takes = false,
                              .begin = begin};
            block->units.insert(block->units.end(), {static_cast<std::uint8_t>(Unit::kRun), 1,
                                                     static_cast<std::uint8_t>(code)});
        }
        return block;
    };
    const auto table = std::make_shared<const CharacterTable>(fill);
    const std::vector<std::pair<CutTable::CutClass, CutTable::CutClass>> inseparable = {{1, 1}};
    return std::make_shared<FusedModel>(
        std::move(model), table, std::make_shared<const CutTable>(table, inseparable), Stages{});
}

ByteTrie trie_of(const std::vector<std::string>& tokens) {
    std::vector<ByteTrie::Entry> entries;
    for (Id id = 0; id < tokens.size(); ++id) entries.push_back({tokens[id], id});
    return ByteTrie(std::move(entries));
}

}  // namespace

TEST(trie_finds_the_longest) {
    Random random{4};
    for (int round = 0; round < 60; ++round) {
        // Few letters make deep tries, all bytes make wide ones.
        const std::size_t letters = round % 3 ? 2 + random.below(3) : 256;
        const auto letter = [&] { return static_cast<char>(random.below(letters)); };
        std::vector<std::string> tokens(random.below(400));
        for (std::string& token : tokens) {
            token.resize(random.below(8));
            std::ranges::generate(token, letter);
        }
        const ByteTrie trie = trie_of(tokens);
        for (int i = 0; i < 300; ++i) {
            std::string text(random.below(12), '\0');
            std::ranges::generate(text, letter);
            const Bytes bytes = bytes_of(text);
            const Id expected = longest_slowly(tokens, text);
            std::size_t length = 0;
            CHECK(trie.longest(bytes.data(), bytes.size(), length) == expected);
            CHECK(expected == ByteTrie::kNone || length == tokens[expected].size());
            const bool whole = expected != ByteTrie::kNone && length == text.size();
            CHECK(trie.find(bytes.data(), bytes.size()) == (whole ? expected : ByteTrie::kNone));
        }
    }
}

TEST(trie_without_tokens) {
    const ByteTrie trie = trie_of({"", ""});
    const Bytes text = bytes_of("\0a");
    std::size_t length = 0;
    CHECK(trie.longest(text.data(), text.size(), length) == ByteTrie::kNone);
}

TEST(symbols_that_no_merge_joins_are_closed) {
    // ab + c: b and c may become adjacent inside a token, c and a may not.
    const bpe::SymbolPairs pairs({{0, 1, {0, 3}}, {3, 2, {1, 4}}}, {0, 1, 2}, 5);
    CHECK(pairs.find(0, 1).rank == 0);
    CHECK(pairs.find(1, 2).rank == bpe::kMayReachAcross && !pairs.never_merges(pairs.find(1, 2)));
    CHECK(pairs.never_merges(pairs.find(2, 0)) && pairs.never_merges(pairs.find(0, 2)));
    CHECK_THROWS(bpe::SymbolPairs({{0, 1, {0, 5}}}, {0, 1}, 5), std::invalid_argument);
}

TEST(an_id_of_many_texts_separates_nothing) {
    std::vector<bpe::SymbolRule> rules;
    std::vector<Id> starts;
    for (Id id = 0; id < 20; ++id) {
        rules.push_back({id, id, {id, 20}});
        starts.push_back(id);
    }
    const bpe::SymbolPairs pairs(rules, starts, 21);
    CHECK(!pairs.never_merges(pairs.find(3, 7)));
}

TEST(pieces_as_in_the_slow_way) {
    Random random{5};
    for (int round = 0; round < 250; ++round) {
        Bytes text = round % 2 ? random_text(random, 20) : Bytes(60);
        if (round % 2 == 0) std::ranges::generate(text, [&] { return 'a' + random.below(3); });
        if (text.empty()) continue;
        const PieceSet pieces = random_pieces(random, text_of(text), 1 + random.below(40));
        const auto merging = pieces.bpe_model();
        const auto lattice = pieces.unigram_model();
        for (const std::size_t limit : {3, 20, 100, 1000}) {
            const std::size_t size = 1 + random.below(std::min(limit, text.size()));
            const std::size_t start = random.below(text.size() - size + 1);
            const Bytes chunk(text.begin() + start, text.begin() + start + size);
            CHECK(placed(merging, text_of(chunk)) == bpe_slowly(pieces, text_of(chunk)));
            CHECK(placed(lattice, text_of(chunk)) == unigram_slowly(pieces, text_of(chunk)));
        }
    }
}

// Almost equal segmentations, after sums up to the largest for which the ids are valid.
TEST(ids_are_valid_for_the_sums_of_their_bound) {
    Random random{31};
    std::size_t bounded = 0;  // how many bounds were limited by a small gap
    for (int round = 0; round < 3000; ++round) {
        Bytes bytes(1 + random.below(round % 10 ? 16 : 100));
        for (std::uint8_t& byte : bytes) byte = static_cast<std::uint8_t>('a' + random.below(3));
        const Text text = text_of(bytes);
        PieceSet pieces = random_pieces(random, text, 30);
        for (double& score : pieces.scores) {
            const double noise = static_cast<double>(random.below(1000)) / 20'000;
            score = std::round(score) / 2 - 0.2 * static_cast<double>(round % 7) - noise;
        }
        const unigram::UnigramModel<float> model = pieces.unigram_model();
        const auto scratch = model.scratch();
        IdArray ids;
        const auto score_bound = model.encode_with_bound(text.begin, text.size(), *scratch, ids);
        const auto most =
            static_cast<float>(score_bound.limit * CarriedScoreModel::ScoreBound::kStep) -
            static_cast<float>(score_bound.weight);
        if (score_bound.limit == 0 || most < 0) continue;
        bounded += most > 200 && most < 90'000;
        for (int i = 0; i < 30; ++i) {
            const float before = i % 2 ? -most + static_cast<float>(random.below(1000)) / 1000
                                       : -most * static_cast<float>(random.below(1000)) / 1000;
            float sum = std::min(before, 0.0f);
            const float added = model.add(sum, ids.data(), ids.size());
            IdArray behind;
            model.encode_after_sum(text.begin, text.size(), *scratch, sum, behind, nullptr);
            CHECK(list(behind) == list(ids));
            CHECK(!score_bound.is_additive || added == sum);
        }
    }
    CHECK(bounded > 200);
}

TEST(runs_merge_from_the_left_whatever_the_ranks) {
    Random random{6};
    for (int round = 0; round < 60; ++round) {
        PieceSet pieces;
        pieces.add("<unk>", 0, PieceType::kUnknown);
        for (std::size_t size = 1; size < 9; ++size) {
            pieces.add(std::string(size, 'a'), static_cast<double>(random.below(3)));
            pieces.add(std::string(size, 'a') + "b", static_cast<double>(random.below(3)));
        }
        const auto model = pieces.bpe_model();
        Bytes chunk(round % 2 ? 200 + random.below(200) : 1 + random.below(bpe::kShort), 'a');
        for (std::size_t i = random.below(40); i > 0; --i) chunk[random.below(chunk.size())] = 'b';
        CHECK(placed(model, text_of(chunk)) == bpe_slowly(pieces, text_of(chunk)));
    }
}

// Checks that lines are merged in lanes as they are one by one.
void check_rows(const PieceSet& pieces, const Bytes& text) {
    const auto merging = std::make_shared<bpe::SentencePieceModel>(pieces.bpe_model());
    const bool merges = !merging->lane_rules().empty();
    const auto model = by_lines(merging);
    CHECK((model->lane_merges() != nullptr) == merges);
    std::vector<Id> expected;
    for (auto start = text.begin(); start != text.end();) {
        const bool breaks = *start == '\n';
        const auto end = breaks ? start + 1 : std::find(start, text.end(), '\n');
        const Placed tokens = bpe_slowly(pieces, {&*start, &*start + (end - start)});
        for (std::size_t i = 0; i < tokens.size(); i += 3) expected.push_back(tokens[i]);
        start = end;
    }
    for (const isa::Level level : levels()) {
        Encoder encoder(model, Family::kModel, level);
        CHECK(list(encoder.encode({text_of(text)}, 1).ids) == expected,
              std::string(isa::name(level)));
    }
}

// As in Llama: the merges of runs of spaces come last, and all have one score.
TEST(runs_of_equal_scores_merge_from_the_left_in_lanes) {
    Random random{41};
    for (int round = 0; round < 200; ++round) {
        Bytes text;
        for (int line = 0; line < 60; ++line) {
            for (std::size_t left = 1 + random.below(28); left > 0; --left) {
                text.push_back(random.below(2) ? ' ' : random.below(3) ? 'a' : 'b');
            }
            text.push_back('\n');
        }
        PieceSet pieces;
        pieces.add("<unk>", 0, PieceType::kUnknown);
        for (const char* symbol : {" ", "a", "b", "\n"}) pieces.add(symbol, -200);
        std::vector<std::string> others = {"  a", "   b", " a", "a ", "b  ", " a ", "ab", "aa"};
        others.resize(random.below(others.size() + 1));
        for (const std::string& other : others) {
            pieces.add(other, -static_cast<double>(random.below(100)));
        }
        const std::size_t missing = random.below(3) ? 0 : 2 + random.below(5);
        for (std::size_t size = 2; size < 8; ++size) {
            if (size != missing) pieces.add(std::string(size, ' '), -100);
        }
        if (round % 4 == 3) pieces.add("bb", -100);
        check_rows(pieces, text);
    }
}

// As the line breaks of Llama: a character without a piece becomes bytes, which never merge, or is
// unknown.
TEST(characters_without_a_piece_in_lanes) {
    Random random{43};
    for (int round = 0; round < 60; ++round) {
        Bytes text;
        for (int line = 0; line < 60; ++line) {
            for (std::size_t left = 1 + random.below(28); left > 0; --left)
                text.push_back(static_cast<std::uint8_t>("aabbcd"[random.below(6)]));
            text.push_back('\n');
        }
        PieceSet pieces;
        pieces.add("<unk>", 0, PieceType::kUnknown);
        const bool spelled = round % 7 == 0;  // texts contain pieces like <0x63>, which then merge
        if (round % 2 || spelled) pieces.add_bytes(spelled ? PieceType::kNormal : PieceType::kByte);
        for (const char* piece : {"a", "b", "ab", "ba", "aab", "d"})
            pieces.add(piece, -static_cast<double>(random.below(100)));
        if (round % 3 == 0) pieces.add("ac", -1);  // so that c is a symbol, but not a piece
        double score = -100;  // a different score for each, so that their order is defined
        for (const char* piece :
             {"<", "0", "x", "6", "3", ">", "<0", "<0x", "<0x6", "<0x63", "<0x63>a"}) {
            if (spelled) pieces.add(piece, score--);
        }
        check_rows(pieces, text);
    }
}

TEST(a_character_without_any_piece) {
    const unigram::UnigramModel<double> model(vocabulary({"a"}), {0}, {1}, {});
    const Bytes text = bytes_of("aü");
    IdArray ids;
    CHECK_THROWS(model.encode_chunk(text.data(), text.size(), *model.scratch(), ids, nullptr),
                 UnknownText);
}

TEST(characters_with_prefix_and_suffix) {
    const bpe::CharacterModel model(vocabulary({"a", "##a", "##a.", "a##a", "a."}), {{0, 1, 3}},
                                    {.prefix = "##", .suffix = "."});
    const Bytes one = bytes_of("a"), three = bytes_of("aaa"), other = bytes_of("axa");
    CHECK(placed(model, text_of(one)) == Placed({4, 0, 1}));
    CHECK(placed(model, text_of(three)) == Placed({3, 0, 2, 2, 2, 3}));
    CHECK(placed(model, text_of(other)) == Placed({0, 0, 1, 2, 2, 3}));
}

TEST(weights_of_score_bounds_fit_their_bits) {
    using ScoreBound = CarriedScoreModel::ScoreBound;
    const unigram::Costs costs{.unknown = -20, .highest = -1, .pieces_per_cost = 1};
    for (const float weight : {2043.0f, 2044.0f, 2045.0f, 2046.0f}) {
        // 100 characters add 1, and the last piece adds 1: 2045 becomes 2047, the maximum that
        // fits.
        const unigram::Margin<float> margin{.gap = 1e6, .weight = weight, .characters = 100};
        const ScoreBound found = unigram::score_bound_of(margin, costs);
        const ScoreBound kept = ScoreBound::unpacked(found.packed());
        CHECK(kept.weight == found.weight && kept.limit == found.limit, std::to_string(weight));
        CHECK((found.limit > 0) == (weight < 2045), std::to_string(weight));
    }
}

TEST(models_refuse_chunks_of_4_gib) {
    const std::size_t size = std::size_t{1} << 32;  // none of it is read
    const PieceSet pieces = [] {
        PieceSet set;
        set.add("<unk>", 0, PieceType::kUnknown);
        set.add("a", -1);
        return set;
    }();
    const auto refuses = [&](const Model& model) {
        IdArray ids;
        CHECK_THROWS(model.encode_chunk(nullptr, size, *model.scratch(), ids, nullptr),
                     std::length_error);
    };
    refuses(pieces.bpe_model());
    refuses(pieces.unigram_model());
    refuses(bpe::CharacterModel(vocabulary({"a"}), {}, {}));
    refuses(*Merges().model());
}

TEST(models_refuse_pieces_that_cannot_be) {
    PieceSet empty;
    empty.add("<unk>", 0, PieceType::kUnknown);
    empty.add("", 0, PieceType::kUserDefined);
    CHECK_THROWS(empty.bpe_model(), std::invalid_argument);
    const std::vector<std::uint8_t> types{static_cast<std::uint8_t>(PieceType::kNormal)};
    const auto made = [&](Id unk) {
        return bpe::SentencePieceModel(vocabulary({"a"}), {0.0f}, types, unk, false);
    };
    CHECK_THROWS(made(1), std::invalid_argument);
    made(bpe::SentencePieceModel::kNone);
}

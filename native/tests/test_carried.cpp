// Ids that depend on a sum carried through the text: compares chunks that are deferred and encoded
// together with chunks encoded one by one, as the scalar loop does. Also tests add_in_order().
#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "encode/encoder.hpp"
#include "fused/model.hpp"
#include "kit.hpp"
#include "models/unigram/add_in_order.hpp"
#include "subword_kit.hpp"

namespace toksmith::test {
namespace {

// ' ' is a space, '!' is removed, and all else are letters; those beyond ASCII become 'e'.
std::unique_ptr<const CharacterTable::Block> fill(std::uint32_t number) {
    auto block = std::make_unique<CharacterTable::Block>();
    for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
        CharacterTable::Row& row = block->rows[i];
        row = {.left = CutTable::kContextSensitive,
               .right = CutTable::kContextSensitive,
               .size = 0,
               .is_context_sensitive = false,
               .joins = false,
               .takes = false,
               .begin = static_cast<std::uint32_t>(block->units.size())};
        const std::uint32_t code = number * CharacterTable::kBlock + i;
        if (code == '!') continue;
        row.left = row.right = code == ' ' ? 1 : 2;
        block->units.push_back(static_cast<std::uint8_t>(code == ' ' ? Unit::kSpace : Unit::kRun));
        block->units.push_back(1);
        block->units.push_back(static_cast<std::uint8_t>(code < 0x80 ? code : 'e'));
        row.size = static_cast<std::uint16_t>(block->units.size() - row.begin);
    }
    return block;
}

std::shared_ptr<FusedModel> staged(const PieceSet& pieces, bool collapse) {
    Stages stages;
    stages.prefix_space = PrefixSpace::kAlways;
    stages.collapse = stages.trim = collapse;
    const auto table = std::make_shared<const CharacterTable>(fill);
    const std::vector<std::pair<CutTable::CutClass, CutTable::CutClass>> inseparable = {
        {1, 1}, {1, 2}, {2, 2}};
    return std::make_shared<FusedModel>(
        std::make_shared<unigram::UnigramModel<float>>(pieces.unigram_model()), table,
        std::make_shared<const CutTable>(table, inseparable), stages);
}

// Words of few letters, some repeated. Some are long, and some have characters without a piece.
std::string words(Random& random, std::size_t size) {
    std::string text;
    while (text.size() < size) {
        text.append(random.below(5) ? 1 : random.below(4), ' ');
        const bool odd = random.below(40) == 0;
        for (std::size_t left = 1 + random.below(random.below(30) ? 9 : 40); left > 0; --left)
            text += static_cast<char>('a' + random.below(3));
        if (odd) text += random.below(3) == 0 ? "!" : random.below(2) ? "Q" : "\xC3\xA9";
    }
    return text;
}

// `scale`: multiplies the scores. `close`: whether different paths often have almost equal sums.
PieceSet pieces_of(Random& random, const std::string& text, double scale, bool close) {
    PieceSet pieces =
        random_pieces(random, text_of(bytes_of(text.substr(0, 500))), 20 + random.below(60));
    for (const char* letter : {" ", "a", "b", "c"}) {
        if (random.below(8) && !pieces.find(letter)) pieces.add(letter, -2);
    }
    for (double& score : pieces.scores) {
        const double noise = static_cast<double>(random.below(1000)) / 2e6;
        score = (std::round(score) - (close ? noise : noise * 2000)) * scale;
    }
    return pieces;
}

}  // namespace

TEST(deferred_chunks_have_the_ids_of_chunks_one_by_one) {
    Random random{77};
    for (int round = 0; round < 90; ++round) {
        const std::string all = words(random, round % 10 ? 3000 : 60'000);
        const double scale = round % 3 == 0 ? 1 : round % 3 == 1 ? 20 : 400;
        const auto model = staged(pieces_of(random, all, scale, round % 2), random.below(3));
        const Bytes bytes = bytes_of(all);
        std::vector<InputText> documents;
        const std::size_t longest[] = {30, 500, 5000, bytes.size()};
        const std::size_t step = 1 + random.below(longest[random.below(4)]);
        for (std::size_t start = 0; start < bytes.size(); start += step) {
            const std::size_t end = std::min(start + step, bytes.size());
            documents.push_back(Text{bytes.data() + start, bytes.data() + end});
        }
        Encoder one_by_one(model, Family::kModel, isa::Level::kScalar);
        const Encoded expected = one_by_one.encode(documents, 1);
        const Characters string(text_of(bytes), utf8::kTwoBytes);
        const std::vector<Id> ids = list(one_by_one.encode({string.utf8()}, 1).ids);
        for (const isa::Level level : levels()) {
            Encoder encoder(model, Family::kModel, level);
            for (const char* time : {"new", "known"}) {
                const Encoded encoded = encoder.encode(documents, 1);
                CHECK(list(encoded.ids) == list(expected.ids), time);
                CHECK(encoded.offsets == expected.offsets, time);
            }
            CHECK(list(encoder.encode({string.source()}, 2).ids) == ids, "a string");
        }
    }
}

// The deferred chunks of the first document move the sum by far less than their upper bound. The
// correction must not apply to the next document, whose first chunks are cached and move the sum by
// 60,000. After these, rounding decides between segmentations.
TEST(corrections_of_one_document_do_not_affect_the_next) {
    PieceSet pieces;
    pieces.add("<unk>", 0, PieceType::kUnknown);
    for (const char* letter : {"d", "e", "f"}) pieces.add(letter, -6);
    pieces.add(" ", -1);
    pieces.add("z", -60);  // makes the upper bound per byte large
    // Between 32,768 and 65,536, adjacent floats differ by 1/256.
    pieces.add("a", -844.49 / 256);
    pieces.add("b", -1049.49 / 256);
    pieces.add("ab", -1893.51 / 256);
    const auto model = staged(pieces, false);
    Random random{78};
    const auto word = [&](std::size_t size) {
        std::string letters(1, ' ');
        while (size-- > 0) letters += static_cast<char>('d' + random.below(3));
        return letters;
    };
    std::string fresh, known;
    for (int i = 0; i < 29; ++i) fresh += word(30);
    for (const std::string& common = word(8); known.size() < 11'000;) known += common;
    for (int i = 0; i < 200; ++i) known += " ab";
    const Bytes second = bytes_of(known);
    const Text known_text{second.data(), second.data() + second.size()};
    const Bytes first = bytes_of(fresh);
    const std::vector<InputText> both{Text{first.data(), first.data() + first.size()}, known_text};
    Encoder one_by_one(model, Family::kModel, isa::Level::kScalar);
    const std::vector<Id> expected = list(one_by_one.encode(both, 1).ids);
    CHECK(std::ranges::count(expected, *pieces.find("a")) > 0);
    for (const isa::Level level : levels()) {
        Encoder encoder(model, Family::kModel, level);
        encoder.encode({known_text}, 1);
        CHECK(list(encoder.encode(both, 1).ids) == expected);
    }
}

TEST(add_in_order_equals_one_addition_after_the_other) {
    Random random{31};
    for (int round = 0; round < 3000; ++round) {
        // Numbers of few bits often lie half way between two floats near the sum.
        const float step = std::ldexp(1.0f, -static_cast<int>(random.below(24)));
        const std::size_t most = std::size_t{1} << (1 + random.below(20));
        std::vector<float> numbers(random.below(1200));
        for (float& number : numbers)
            number = -step * static_cast<float>(random.below(random.below(4) ? most : 3));
        const float start = -std::ldexp(static_cast<float>(random.below(1 << 24)),
                                        static_cast<int>(random.below(30)) - 24);
        float expected = start;
        for (const float number : numbers) expected += number;
        const auto number = [&](std::size_t i) { return numbers[i]; };
        CHECK(unigram::add_in_order(start, numbers.size(), number) == expected);
    }
}

// A reset in run() can leave a sum above 0. Here each stretch brings it as far below 0, so that the
// differences of the bit patterns add up to a number of the first sum's sign and binade.
TEST(numbers_are_added_in_order_to_a_sum_above_0) {
    const auto number = [](std::size_t) { return -12.0f; };
    CHECK(unigram::add_in_order(96.5f, 64, number) == 96.5f - 64 * 12);
}

}  // namespace toksmith::test

// Models fused with their stages: where texts are cut, and how chunks are normalized.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "counting/counted_pieces.hpp"
#include "encode/encoder.hpp"
#include "fused/model.hpp"
#include "fused/span_model.hpp"
#include "kit.hpp"

namespace toksmith::test {
namespace {

// Encodes each piece as its bytes, followed by a 0 with the span of the whole piece.
class Speller final : public Model {
 public:
    std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
    void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch&, IdArray& out,
                      IdArray* spans) const override {
        const auto push = [&](Id id, std::size_t start, std::size_t end) {
            out.push(id);
            if (!spans) return;
            spans->push(static_cast<Id>(start));
            spans->push(static_cast<Id>(end));
        };
        for (std::size_t i = 0; i < size; ++i) push(chunk[i], i, i + 1);
        push(0, 0, size);
    }
};

// a-z are runs of one class, 0-9 are pieces by themselves, ' ' is treated as `space`, '!' is
// removed by the normalizer, 'X' becomes "xx", and '#' is context-sensitive. '+' joins the
// character before it if that is '*' or U+3100, which take it. All other characters are one more
// class.
std::unique_ptr<const CharacterTable::Block> fill(std::uint32_t number, Unit space) {
    auto block = std::make_unique<CharacterTable::Block>();
    for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
        CharacterTable::Row& row = block->rows[i];
        row.left = row.right = CutTable::kContextSensitive;
        row.begin = static_cast<std::uint32_t>(block->units.size());
        const std::uint32_t code = number * CharacterTable::kBlock + i;
        row.joins = code == '+' || code == 0x3101;
        row.takes = code == '*' || code == 0x3100;
        if (code == '#') {
            row.is_context_sensitive = true;
            continue;
        }
        if (code == '!') continue;
        const bool digit = code >= '0' && code <= '9';
        const bool letter = code >= 'a' && code <= 'z';
        if (!row.joins)
            row.left = row.right = code == ' ' ? 1 : digit ? 2 : letter || code == 'X' ? 3 : 4;
        const Unit kind = code == ' '             ? space
                          : digit                 ? Unit::kAlone
                          : letter || code == 'X' ? Unit::kRun
                                                  : static_cast<Unit>(5);
        const std::string text = code == 'X'   ? "xx"
                                 : code < 0x80 ? std::string(1, static_cast<char>(code))
                                               : "?";
        for (const char c : text) {
            block->units.push_back(static_cast<std::uint8_t>(kind));
            block->units.push_back(1);
            block->units.push_back(static_cast<std::uint8_t>(c));
        }
        row.size = static_cast<std::uint16_t>(block->units.size() - row.begin);
    }
    return block;
}

StageRunner stage_runner(Unit space, Stages stages = {}) {
    stages.run_stages = [](const std::uint8_t* chunk, std::size_t size,
                           std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends) {
        pieces.assign(chunk, chunk + size);
        ends.assign(1, size);
    };
    stages.locate_stages = [](const std::uint8_t* chunk, std::size_t size, bool,
                              std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends,
                              std::vector<ByteRange>& origins) {
        pieces.assign(chunk, chunk + size);
        ends.assign(1, size);
        for (std::size_t i = 0; i < size; ++i) {
            const std::size_t start = i > 0 && chunk[i] == '#' ? i - 1 : i;
            origins.push_back({start, start + 1});
        }
    };
    auto table = std::make_shared<const CharacterTable>(
        [space](std::uint32_t number) { return fill(number, space); });
    const std::vector<std::pair<CutTable::CutClass, CutTable::CutClass>> inseparable = {
        {1, 1}, {1, 2}, {1, 3}, {1, 4}, {3, 3}, {4, 4}};
    auto cut_table = std::make_shared<const CutTable>(table, inseparable);
    return {table, cut_table, stages};
}

std::shared_ptr<FusedModel> staged(Unit space, Stages stages = {}) {
    return std::make_shared<FusedModel>(std::make_shared<Speller>(),
                                        stage_runner(space, std::move(stages)));
}

Text text_at(const std::string& text) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
    return {begin, begin + text.size()};
}

std::string spelled(const IdArray& ids) {
    std::string text;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        text += ids.data()[i] ? static_cast<char>(ids.data()[i]) : '|';
    }
    return text;
}

std::string encoded(const std::shared_ptr<FusedModel>& model, const std::string& text,
                    std::size_t threads = 1) {
    Encoder encoder(model, Family::kModel, isa::choose(""));
    const Encoded once = encoder.encode({text_at(text)}, threads);
    CHECK(encoder.count({text_at(text)}, threads) == once.ids.size());
    const Characters string(text_at(text), utf8::kFourBytes);
    if (string.utf8().size() == text.size())  // the string is valid UTF-8
        CHECK(spelled(encoder.encode({string.source()}, threads).ids) == spelled(once.ids));
    return spelled(once.ids);
}

// Each encoded byte with its span, and each piece with its span.
std::string placed(const std::shared_ptr<FusedModel>& model, const std::string& text,
                   bool starts = true) {
    Encoder encoder(std::make_shared<SpanModel>(model), Family::kModel, isa::choose(""));
    const std::uint8_t continuing[] = {!starts};
    std::string all;
    for (int again = 0; again < 2; ++again) {  // the second time from the cache
        std::optional<Located> found = encoder.encode_with_spans({text_at(text)}, continuing, 1);
        if (!found) return "unknown";
        CHECK(found->bytes.size() == found->ids.size());
        if (starts) CHECK(spelled(found->ids) == encoded(model, text));
        std::string seen;
        for (std::size_t i = 0; i < found->ids.size(); ++i) {
            const Id id = found->ids.data()[i];
            const std::int64_t* const span = found->bytes.data() + 2 * i;
            seen += id ? static_cast<char>(id) : '|';
            seen += std::to_string(span[0]) + '-' + std::to_string(span[1]) + ' ';
        }
        CHECK(again == 0 || seen == all);
        all = seen;
    }
    return all;
}

std::string chunks(const std::shared_ptr<FusedModel>& model, const std::string& text) {
    const Text all = text_at(text);
    std::string cut;
    for (const std::uint8_t* p = all.begin; p < all.end;) {
        const std::uint8_t* q = model->cut_table()->next(p, all.end);
        cut.append(p, q);
        cut += '|';
        p = q;
    }
    return cut;
}

TEST(boundaries_are_where_nothing_is_joined) {
    const auto model = staged(Unit::kRemoved);
    CHECK(chunks(model, "ab cd") == "ab| cd|");
    CHECK(chunks(model, "a1b22") == "a|1|b|2|2|");
    CHECK(chunks(model, "a!b") == "a!b|");  // never cut next to a removed character
    CHECK(chunks(model, "a#1") == "a#1|");
    CHECK(chunks(model, "") == "");
    CHECK(chunks(model, "\xC3\xA9\xC3\xA9z\xE4\xB8\xAD z") ==
          "\xC3\xA9\xC3\xA9|z|\xE4\xB8\xAD| z|");
    CHECK(chunks(model, "a\xFF\xFF") == "a|\xFF\xFF|");
}

TEST(characters_that_join_need_one_that_takes_them) {
    const auto model = staged(Unit::kRemoved);
    CHECK(encoded(model, "X+") == "xx|+|");
    CHECK(encoded(model, "X**") == "xx|**|");
    CHECK(encoded(model, "X*+") == "X*+|");  // by run_stages, which changes nothing
    CHECK(encoded(model, "X++*") == "xx|++*|");
    CHECK(encoded(model, "X\xE3\x84\x80+") == "X\xE3\x84\x80+|");
    CHECK(encoded(model, "X\xE3\x84\x80\xE3\x84\x81") == "xx|??|");  // six bytes are too many
    CHECK(placed(model, "X+") == "x0-1 x0-1 |0-1 +1-2 |1-2 ");
    CHECK(placed(model, "X*+") == "X0-1 *1-2 +2-3 |0-3 ");
}

TEST(a_space_before_a_piece_has_the_origin_of_the_next_character) {
    Stages stages;
    stages.prefix_space = PrefixSpace::kUnlessSpace;
    stages.collapse = stages.trim = stages.space_precedes_piece = true;
    const auto model = staged(Unit::kStart, stages);
    CHECK(encoded(model, "ab  c ") == " ab| c|");
    CHECK(placed(model, "ab  c ") == " 0-1 a0-1 b1-2 |0-2  4-5 c4-5 |4-5 ");
    CHECK(placed(model, "  !a") == " 3-4 a3-4 |3-4 ");
    CHECK(placed(model, " X") == " 1-2 x1-2 x1-2 |1-2 ");
    CHECK(placed(model, "  ") == "");
}

TEST(a_cut_found_from_anywhere_is_a_boundary) {
    const auto model = staged(Unit::kRemoved);
    const std::string text = "ab cd \xC3\xA9\xC3\xA9 12 \xE4\xB8\xAD\xFFz";
    const Text all = text_at(text);
    std::vector<const std::uint8_t*> ends;
    for (const std::uint8_t* p = all.begin; p < all.end;) {
        ends.push_back(p = model->cut_table()->next(p, all.end));
    }
    for (const std::uint8_t* from = all.begin; from <= all.end; ++from) {
        const std::uint8_t* cut = model->cut_table()->cut(from, all.end);
        CHECK(cut >= from);
        CHECK(std::find(ends.begin(), ends.end(), cut) != ends.end());
    }
}

namespace {

struct BitByBit {
    template <int kBit>
    static std::uint64_t bit(const std::uint8_t* p) {
        std::uint64_t bits = 0;
        for (unsigned i = 0; i < 64; ++i) bits |= std::uint64_t{p[i] >> kBit & 1u} << i;
        return bits;
    }
};

// Characters of one to three bytes: single ones, ones in inseparable pairs, context-sensitive ones,
// and invalid bytes.
const std::vector<std::string> kMixed = {"a",
                                         "b",
                                         " ",
                                         "1",
                                         ".",
                                         "\n",
                                         "\t",
                                         "\xC3\xA9",
                                         "\xD0\x96",
                                         "\xE4\xB8\xAD",
                                         "\xE4\xB8\xAE",
                                         "\xE4\xB8\xAF",
                                         "\xE3\x81\x82",
                                         "\xE3\x81\x83",
                                         "\xEC\x95\x88",
                                         "\xF0\x9F\x98\x80",
                                         "\xFF",
                                         "\xE4\xB8",
                                         "\xC3\xAC",
                                         "\xE0\x83\xAC",
                                         "\xED\xBF\xBF",
                                         "\xE0\x80\x80"};

CutTable boundaries_of_mixed(bool ascii_is_context_sensitive) {
    const auto rows = [ascii_is_context_sensitive](std::uint32_t number) {
        auto block = std::make_unique<CharacterTable::Block>();
        for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
            const std::uint32_t code = number * CharacterTable::kBlock + i;
            CharacterTable::Row& row = block->rows[i];
            row.left = row.right = static_cast<std::uint16_t>(code % 7);
            if (code >= 0x4E00 && code < 0xD800) row.left = row.right = code % 16 == 15 ? 3 : 9;
            if (code == 0x3042) row.right = CutTable::kContextSensitive;
            if (code == 0x3043) row.left = CutTable::kContextSensitive;
            if (ascii_is_context_sensitive && code == 'b') row.right = CutTable::kContextSensitive;
        }
        return block;
    };
    return {std::make_shared<const CharacterTable>(rows),
            {{0, 1}, {3, 3}, {3, 2}, {6, 3}, {4, 4}, {2, 6}}};
}

// A text of only some of these, so that there are runs.
std::string mixed(Random& random, std::size_t size) {
    std::vector<std::string> kinds(1 + random.below(4));
    for (std::string& kind : kinds) kind = kMixed[random.below(kMixed.size())];
    std::string text;
    while (text.size() < size) text += kinds[random.below(kinds.size())];
    return text;
}

}  // namespace

TEST(cuts_of_a_window_are_those_found_one_by_one) {
    Random random{11};
    for (const bool ascii_is_context_sensitive : {false, true}) {
        const CutTable cut_table = boundaries_of_mixed(ascii_is_context_sensitive);
        CharCache singles;
        for (const std::string kind : {"\xE4\xB8\xAD", "\xE4\xB8\xAE", "a", "b", ".", "\n"}) {
            const Id id = 1;
            singles.insert(text_at(kind).begin, {&id, 1});
        }
        const auto check = [&](const std::string& text) {
            const Text all = text_at(text);
            std::uint64_t expected = 0;
            for (const std::uint8_t* p = all.begin; p < all.begin + 64;) {
                p = cut_table.next(p, all.end);
                if (p < all.begin + 64) expected |= std::uint64_t{1} << (p - all.begin);
            }
            const auto same = [&](std::uint64_t found) {
                CHECK((found & ~expected) == 0);
                // Cuts near the end of the window may be missed.
                CHECK(((found ^ expected) & ((std::uint64_t{1} << 56) - 1)) == 0);
            };
            same(cut_table.among<BitByBit>(all.begin, all.end,
                                           [](const std::uint8_t* p, auto) { return p; }));
            // Cached single characters are in runs, without cuts between them.
            CharRuns runs(cut_table, singles);
            const auto run_end = [&](auto p, auto end) { return runs.find(p, end); };
            const std::uint64_t found = cut_table.among<BitByBit>(all.begin, all.end, run_end);
            std::uint64_t inside = 0;
            const auto* run = runs.to_consume;
            for (std::size_t first = 0; first < runs.size(); first = run++->last) {
                const auto start = static_cast<std::size_t>(run->begin - all.begin);
                CHECK(start == 0 || (found >> start & 1));
                for (std::size_t i = run->first + 1; i < run->last; ++i) {
                    const std::ptrdiff_t place = CharRuns::text(*run, i).begin - all.begin;
                    if (place < 64) inside |= std::uint64_t{1} << place;
                }
            }
            CHECK(run == runs.to_consume + runs.count());
            CHECK((found & inside) == 0 && (expected & inside) == inside);
            same(found | inside);
        };
        // Only a few kinds each time, so that there are runs.
        for (int round = 0; round < 2000; ++round) {
            check(mixed(random, 100));
        }
        // Runs that end at every place of the window, followed by different characters.
        for (std::size_t before = 0; before < 3; ++before) {
            for (std::size_t row = 0; row < 22; ++row) {
                for (const std::string& kind : kMixed) {
                    std::string text(before, 'a');
                    for (std::size_t i = 0; i < row; ++i) text += "\xE4\xB8\xAD";
                    check(text + kind + std::string(70, 'a'));
                    // Runs that continue after an ASCII character, and end before the window does.
                    for (std::size_t more = 1; more < 3; ++more) {
                        text += ".\xE4\xB8\xAD";
                        check(text + kind + std::string(70, 'a'));
                    }
                }
            }
        }
    }
}

TEST(windows_of_ascii_find_cuts_wherever_they_start) {
    Random random{12};
    for (const bool ascii_is_context_sensitive : {false, true}) {
        const CutTable cut_table = boundaries_of_mixed(ascii_is_context_sensitive);
        for (int round = 0; round < 100; ++round) {
            std::string text;
            while (text.size() < 300) text += "ab 1"[random.below(2 + round % 3)];
            const Text all = text_at(text);
            std::vector<bool> expected(text.size() + 1);
            for (const std::uint8_t* p = all.begin; p < all.end;) {
                p = cut_table.next(p, all.end);
                expected[static_cast<std::size_t>(p - all.begin)] = true;
            }
            for (std::size_t start = 0; start + 64 <= text.size(); ++start) {
                const std::uint64_t found =
                    cut_table.cuts_in_ascii_window<BitByBit>(all.begin + start);
                CHECK((found & 1) == 0 && found >> (CutTable::kAsciiStride + 1) == 0);
                for (std::size_t i = 1; i <= CutTable::kAsciiStride; ++i)
                    CHECK((found >> i & 1) == expected[start + i]);
            }
        }
    }
}

TEST(line_breaks_stay_with_symbols_unless_they_become_spaces) {
    for (const bool is_space : {false, true}) {
        const auto rows = [is_space](std::uint32_t number) {
            auto block = std::make_unique<CharacterTable::Block>();
            for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
                const std::uint32_t code = number * CharacterTable::kBlock + i;
                CharacterTable::Row& row = block->rows[i];
                row.left = row.right = code == ' ' || (is_space && code == '\n') ? 1 : 2;
            }
            return block;
        };
        const CutTable cut_table(std::make_shared<const CharacterTable>(rows), {});
        const auto cuts = [&](const std::string& text) {
            const Text all = text_at(text);
            std::string found;
            for (const std::uint8_t* p = all.begin; p < all.end;) {
                const std::uint8_t* const next = cut_table.next(p, all.end);
                found.append(p, next).append("|");
                p = next;
            }
            return found;
        };
        CHECK(cuts(".\n\n.") == (is_space ? ".|\n|\n|.|" : ".\n\n|.|"));
        CHECK(cuts("a\n\tb") == "a|\n\t|b|");
        CHECK(cuts("1\n \n") == "1|\n| |\n|");
        CHECK(cuts("\xC3\xA9\n)\r\xC3\xA9.\n") ==
              (is_space ? "\xC3\xA9|\n|)\r|\xC3\xA9|.|\n|" : "\xC3\xA9|\n|)\r|\xC3\xA9|.\n|"));
    }
}

TEST(a_text_is_cut_at_all_boundaries_and_nowhere_else) {
    // Uses the cut table only.
    class Spelled final : public Model {
     public:
        explicit Spelled(bool ascii_is_context_sensitive)
            : cut_table_(boundaries_of_mixed(ascii_is_context_sensitive)) {}
        std::unique_ptr<Scratch> scratch() const override { return speller_.scratch(); }
        void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                          IdArray& out, IdArray* spans) const override {
            speller_.encode_chunk(chunk, size, scratch, out, spans);
        }
        const CutTable* cut_table() const override { return &cut_table_; }

     private:
        Speller speller_;
        CutTable cut_table_;
    };
    Random random{13};
    for (const bool ascii_is_context_sensitive : {false, true}) {
        const auto model = std::make_shared<Spelled>(ascii_is_context_sensitive);
        for (const isa::Level level : levels()) {
            Encoder encoder(model, Family::kModel, level);  // caches more and more
            for (int round = 0; round < 500; ++round) {
                std::string text;
                for (std::size_t part = random.below(6); part <= 6; ++part) {
                    // Long single chunks, and long sequences of chunks of one byte.
                    text += random.below(3) ? mixed(random, random.below(120))
                                            : std::string(random.below(200), " b"[random.below(2)]);
                }
                const Text all = text_at(text);
                IdArray expected;
                for (const std::uint8_t* p = all.begin; p < all.end;) {
                    const std::uint8_t* const next = model->cut_table()->next(p, all.end);
                    for (; p < next; ++p) expected.push(*p);
                    expected.push(0);
                }
                CHECK(spelled(encoder.encode({all}, 1).ids) == spelled(expected));
            }
            // A str is cut where a task is converted to UTF-8; chunks end there as well.
            std::string text;
            while (text.size() < 1'000'000) text += mixed(random, 1000);
            const Characters string(text_at(text), utf8::kFourBytes);
            const std::string whole = spelled(encoder.encode({string.utf8()}, 1).ids);
            for (std::size_t threads = 1; threads <= 3; ++threads)
                CHECK(spelled(encoder.encode({string.source()}, threads).ids) == whole);
        }
    }
}

TEST(the_end_of_a_short_text_is_cut_if_nul_is_context_sensitive) {
    // Letters are single, and NUL is normalized together with the text before it, as in BERT.
    const auto rows = [](std::uint32_t number) {
        auto block = std::make_unique<CharacterTable::Block>();
        if (number == 0) block->rows[0].left = block->rows[0].right = CutTable::kContextSensitive;
        return block;
    };
    class Chunks final : public Model {
     public:
        explicit Chunks(CutTable cut_table) : cut_table_(std::move(cut_table)) {}
        std::unique_ptr<Scratch> scratch() const override { return std::make_unique<Scratch>(); }
        void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch&, IdArray& out,
                          IdArray*) const override {
            for (std::size_t i = 0; i < size; ++i) out.push(chunk[i]);
            out.push(0);
        }
        const CutTable* cut_table() const override { return &cut_table_; }

     private:
        CutTable cut_table_;
    };
    const auto model =
        std::make_shared<Chunks>(CutTable(std::make_shared<const CharacterTable>(rows), {{5, 5}}));
    for (const isa::Level level : levels()) {
        for (std::size_t size = 1; size < 200; ++size) {
            std::string text, cut;
            for (std::size_t i = 0; i < size; ++i) {
                text += static_cast<char>('a' + i % 26);
                cut += text.back();
                cut += '|';
            }
            Encoder encoder(model, Family::kModel, level);
            CHECK(spelled(encoder.encode({text_at(text)}, 1).ids) == cut);
        }
    }
}

TEST(classes_make_pieces) {
    const auto model = staged(Unit::kRemoved);
    CHECK(encoded(model, "ab  cd12X!z-- ") == "ab|cd|1|2|xxz|--|");
    CHECK(encoded(model, "   ") == "");
    CHECK(encoded(model, "a#b") == "a#b|");  // computed by run_stages
}

TEST(a_start_includes_the_following_run) {
    const auto model = staged(Unit::kStart);
    CHECK(encoded(model, "ab cd  ef") == "ab| cd| | ef|");
}

TEST(spaces_collapse) {
    Stages stages;
    stages.collapse = true;
    stages.trim = true;
    stages.prefix_space = PrefixSpace::kAlways;
    const auto model = staged(Unit::kSpace, stages);
    CHECK(encoded(model, "ab   cd  ") == " ab| cd|");
    CHECK(encoded(model, "   ab") == " ab|");
    CHECK(encoded(model, "   ") == "");
    CHECK(encoded(model, "") == "");
}

TEST(a_prefix_space_precedes_the_document_only) {
    Stages stages;
    stages.prefix_space = PrefixSpace::kUnlessSpace;
    const auto model = staged(Unit::kStart, stages);
    CHECK(encoded(model, "ab cd") == " ab| cd|");
    CHECK(encoded(model, " ab") == " ab|");
    Encoder encoder(model, Family::kModel, isa::choose(""));
    const std::string text = "ab";
    CHECK(spelled(encoder.encode({text_at(text), text_at(text)}, 1, 1).ids) == " ab|ab|");
    CHECK(spelled(encoder.encode({text_at(text), text_at(text)}, 1, 0).ids) == "ab|ab|");
}

TEST(spans_refer_to_the_text_before_the_stages) {
    const auto model = staged(Unit::kRemoved);
    CHECK(placed(model, "ab  cX!z") == "a0-1 b1-2 |0-2 c4-5 x5-6 x5-6 z7-8 |4-8 ");
    CHECK(placed(model, "1\xC3\xA9-") == "10-1 |0-1 ?1-3 -3-4 |1-4 ");
    CHECK(placed(model, "a#b") == "a0-1 #0-1 b2-3 |0-3 ");  // # has the origin of a
    CHECK(placed(model, "") == "");
}

TEST(a_prefix_space_covers_the_first_character_too) {
    Stages stages;
    stages.prefix_space = PrefixSpace::kUnlessSpace;
    stages.collapse = true;
    const auto model = staged(Unit::kStart, stages);
    CHECK(placed(model, "ab cd") == " 0-1 a0-1 b1-2 |0-2  2-3 c3-4 d4-5 |2-5 ");
    CHECK(placed(model, " ab") == " 0-1 a1-2 b2-3 |0-3 ");
    CHECK(placed(model, "ab", false) == "a0-1 b1-2 |0-2 ");
    CHECK(placed(model, "a   b") == " 0-1 a0-1 |0-1  3-4 b4-5 |3-5 ");  // covers the last space
}

TEST(spans_reach_up_to_the_next_place) {
    Stages stages;
    stages.prefix_space = PrefixSpace::kAlways;
    stages.collapse = true;
    stages.trim = true;
    stages.origin = Origin::kUpToNext;
    const auto model = staged(Unit::kSpace, stages);
    CHECK(placed(model, "ab") == " 0-0 a0-1 b1-2 |0-2 ");
    CHECK(placed(model, "  a!b") == " 2-2 a2-4 b4-5 |2-5 ");
    CHECK(placed(model, "!a   b  ") == " 0-1 a1-2 |0-2  2-5 b5-6 |2-6 ");
    CHECK(placed(model, "aX!") == " 0-0 a0-1 x1-1 x1-3 |0-3 ");
}

TEST(spans_are_unknown_if_the_first_character_may_be_dropped) {
    Stages stages;
    stages.origin = Origin::kShifted;
    const auto model = staged(Unit::kRemoved, stages);
    CHECK(placed(model, "aX") == "a0-1 x1-2 x1-2 |0-2 ");
    CHECK(placed(model, "!aX") == "unknown");
    CHECK(placed(model, "#a") == "unknown");
}

TEST(threads_change_nothing) {
    Stages stages;
    stages.collapse = true;
    stages.trim = true;
    stages.prefix_space = PrefixSpace::kAlways;
    const auto model = staged(Unit::kSpace, stages);
    std::string text;
    for (int i = 0; text.size() < (std::size_t{4} << 20); ++i) {
        text +=
            "word" + std::to_string(i % 977) + (i % 3 ? "  " : " ") + (i % 7 ? "\xC3\xA9" : "X#-");
    }
    const std::string alone = encoded(model, text, 1);
    CHECK(encoded(model, text, 2) == alone);
    CHECK(encoded(model, text, 3) == alone);
}

// Texts, concatenated, with counts 1, 2, ...
struct Counted {
    std::string text;
    std::vector<std::uint64_t> ends{}, counts{};

    void add(const std::string& more) {
        text += more;
        ends.push_back(text.size());
        counts.push_back(counts.size() + 1);
    }
    CountedTexts view() const { return {text_at(text).begin, ends, counts}; }
};

std::string shown(const DistinctChunks& chunks) {
    std::string all;
    for (const DistinctChunks::Entry& entry : chunks.entries()) {
        all.append(reinterpret_cast<const char*>(entry.bytes()), entry.size());
        all += ' ' + std::to_string(entry.count) + ' ';
    }
    return all;
}

TEST(pieces_of_chunks_are_counted_after_pieces_that_are_known) {
    const StageRunner stages = stage_runner(Unit::kRemoved);
    Counted known, chunks;
    known.add("b");
    for (const char* chunk : {"a1X ", " b!a", "!", "1 #"}) chunks.add(chunk);
    CHECK(shown(count_pieces(known.view(), chunks.view(), stages, 1)) ==
          "b 1 a 1 1 1 xx 1 ba 2 1 # 4 ");
    CHECK(count_pieces({}, {}, stages, 2).entries().empty());
}

TEST(threads_do_not_change_counted_pieces) {
    const StageRunner stages = stage_runner(Unit::kRemoved);
    Counted known, chunks;
    for (int i = 0; i < 20'000; ++i) {
        known.add("w" + std::to_string(i % 5'003));
        chunks.add(" X" + std::to_string(i % 1'009) + "w" + (i % 11 ? "" : "#"));
    }
    const std::string alone = shown(count_pieces(known.view(), chunks.view(), stages, 1));
    CHECK(shown(count_pieces(known.view(), chunks.view(), stages, 2)) == alone);
    CHECK(shown(count_pieces(known.view(), chunks.view(), stages, 3)) == alone);
}

TEST(a_model_without_cut_table_is_rejected) {
    bool refused = false;
    try {
        Encoder encoder(std::make_shared<Speller>(), Family::kModel, isa::choose(""));
    } catch (const std::invalid_argument&) {
        refused = true;
    }
    CHECK(refused);
}

}  // namespace
}  // namespace toksmith::test

// Splits the input by a chain of tables on every instruction set, whole and cut in two, and
// compares with splitting by one table after the other. Makes a table out of the input.
#include <stdexcept>

#include "fuzz.hpp"
#include "split_kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

using Places = std::vector<std::uint64_t>;

constexpr std::uint32_t kMembers[] = {'a', ' ', '\n', '1', 0xE9, 0x4E2D, 0x3000, 0x1F600};
constexpr std::size_t kLines = std::size(kMembers);

// Tables are made once, since each takes a millisecond.
const SplitTable& table_of(std::size_t kind) {
    static const std::vector<SplitTable> all = [] {
        std::vector<SplitTable> made;
        for (const std::uint32_t member : kMembers) made.push_back(runs_of(member));
        made.push_back(lines());
        return made;
    }();
    return all[kind];
}

Places ends_slowly(std::size_t kind, Text piece) {
    if (kind == kLines) return ends_of_lines(piece);
    Places ends;
    bool was_member = false;
    for (const std::uint8_t* p = piece.begin; p < piece.end;) {
        const utf8::Char c = utf8::decode(p, piece.end);
        const bool is_member = c.code == kMembers[kind];
        if (p > piece.begin && is_member != was_member)
            ends.push_back(static_cast<std::uint64_t>(p - piece.begin));
        was_member = is_member;
        p += c.size;
    }
    if (piece.size() > 0) ends.push_back(piece.size());
    return ends;
}

Places ends_slowly(const std::vector<std::size_t>& chain, Text text) {
    Places ends;
    if (text.size() > 0) ends.push_back(text.size());
    for (const std::size_t kind : chain) {
        Places next;
        std::uint64_t start = 0;
        for (const std::uint64_t end : ends) {
            for (const std::uint64_t place :
                 ends_slowly(kind, {text.begin + start, text.begin + end}))
                next.push_back(start + place);
            start = end;
        }
        ends = std::move(next);
    }
    return ends;
}

// Numbers of the input as a table: it is refused or made.
void make_table(const Bytes& bytes, Random& random) {
    std::size_t place = 0;
    const auto next = [&](std::size_t limit) {
        return place < bytes.size() ? bytes[place++] % limit : 0;
    };
    const std::size_t kinds = 1 + next(random.below(4) ? 5 : 70);
    const std::size_t states = 1 + next(random.below(4) ? 6 : 256);
    std::vector<std::uint32_t> starts{0};
    std::vector<std::uint8_t> classes{0};
    for (std::size_t i = next(8); i > 0; --i) {
        starts.push_back(starts.back() + static_cast<std::uint32_t>(next(256) * next(256) * 32));
        classes.push_back(static_cast<std::uint8_t>(next(kinds + random.below(2))));
    }
    std::vector<std::uint16_t> following, actions;
    for (std::size_t i = 0; i < states * kinds + (random.below(16) == 0); ++i)
        following.push_back(static_cast<std::uint16_t>(next(states + (random.below(64) == 0))));
    for (std::size_t i = 0; i < states * (kinds + 1); ++i)
        actions.push_back(static_cast<std::uint16_t>(next(256) << next(9)));
    try {
        const SplitTable table(starts, classes, following, actions,
                               std::vector<std::uint64_t>(kinds, random.next()));
        for (const std::uint32_t code : {0x41u, 0x10FFFFu, utf8::kInvalid})
            CHECK(table.class_of(code) < kinds);
    } catch (const std::invalid_argument&) {
    }
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    if (random.below(64) == 0) make_table(input.text, random);
    std::vector<std::size_t> chain;
    std::vector<SplitTable> tables;
    for (std::size_t i = 1 + random.below(random.below(2) ? 1 : Splitter::kMostTables); i > 0;
         --i) {
        chain.push_back(random.below(kLines + 1));
        tables.push_back(table_of(chain.back()));
    }
    const Splitter splitter(std::move(tables));
    const Text text = text_of(input.text);
    const Places expected = ends_slowly(chain, text);
    const std::uint8_t* const cut =
        safe_cut(splitter, text.begin + random.below(text.size() + 1), text.end);
    const auto offset = static_cast<std::uint64_t>(cut - text.begin);
    for (const isa::Level level : some_levels(random)) {
        CHECK(ends_by_tables(splitter, level, text) == expected);
        Places halves = ends_by_tables(splitter, level, {text.begin, cut});
        for (const std::uint64_t end : ends_by_tables(splitter, level, {cut, text.end}))
            halves.push_back(offset + end);
        CHECK(halves == expected, "cut");
    }
    return 0;
}

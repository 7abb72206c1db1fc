#include "split/splitter.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <optional>
#include <stdexcept>
#include <string>
#include <utility>

#include "base/stop.hpp"
#include "simd/marked.hpp"
#include "split/cut_table.hpp"
#include "split/unicode.hpp"
#include "vocab/adjacency_filter.hpp"
#if TOKSMITH_X86
#include "simd/avx512.hpp"
#endif
#if TOKSMITH_ARM
#include "simd/neon.hpp"
#endif

namespace toksmith {
namespace {

// The member function Finder::find that is instantiated for the family.
template <typename Finder>
FindChunks pick(Family family) {
    constexpr auto kAll = []<std::size_t... i>(std::index_sequence<i...>) {
        return std::array<FindChunks, kPatterns>{Finder::template find<static_cast<Family>(i)>...};
    }(std::make_index_sequence<kPatterns>());
    return kAll[static_cast<std::size_t>(family)];
}

}  // namespace

namespace scalar {
namespace {

struct Isa {
    static constexpr auto bitmask_to_pointers = marked::bitmask_to_pointers;
};
#include "split/multibyte.inc"
#include "split/scanner.inc"
#include "split/table_scanner.inc"

struct Finder {
    template <Family kFamily>
    static Ends find(const Byte* p, const Byte* end, const Byte** ends) {
        return scan_ends<kFamily>(p, end, ends, kMostEnds);
    }
};

}  // namespace
}  // namespace scalar

#if TOKSMITH_X86

TOKSMITH_AVX2_BEGIN
namespace avx2 {
namespace {

using Isa = Avx2;
#include "split/multibyte.inc"
#include "split/table_scanner.inc"
#include "split/windows.inc"

struct Finder {
    template <Family kFamily>
    static Ends find(const Byte* p, const Byte* end, const Byte** ends) {
        return fill_ends<kFamily>(p, end, ends);
    }
};

}  // namespace
}  // namespace avx2
TOKSMITH_TARGET_END

TOKSMITH_AVX512_BEGIN
namespace avx512 {
namespace {

using Isa = Avx512;
#include "split/multibyte.inc"
#include "split/table_scanner.inc"
#include "split/windows.inc"

struct Finder {
    template <Family kFamily>
    static Ends find(const Byte* p, const Byte* end, const Byte** ends) {
        return fill_ends<kFamily>(p, end, ends);
    }
};

}  // namespace
}  // namespace avx512
TOKSMITH_TARGET_END

#endif

#if TOKSMITH_ARM
namespace neon {
namespace {

using Isa = Neon;
#include "split/multibyte.inc"
#include "split/table_scanner.inc"
#include "split/windows.inc"

struct Finder {
    template <Family kFamily>
    static Ends find(const Byte* p, const Byte* end, const Byte** ends) {
        return fill_ends<kFamily>(p, end, ends);
    }
};

}  // namespace
}  // namespace neon
#endif

FindByTables find_by_tables_of([[maybe_unused]] isa::Level level) {
#if TOKSMITH_X86
    if (level == isa::Level::kAvx512) return avx512::find_by_tables;
    if (level == isa::Level::kAvx2) return avx2::find_by_tables;
#endif
#if TOKSMITH_ARM
    if (level == isa::Level::kNeon) return neon::find_by_tables;
#endif
    return scalar::find_by_tables;
}

FindChunks find_chunks_of(Family family, [[maybe_unused]] isa::Level level) {
    if (static_cast<int>(family) >= kPatterns)
        throw std::invalid_argument("the family \"" + std::string(traits(family).name) +
                                    "\" is no pattern");
#if TOKSMITH_X86
    if (level == isa::Level::kAvx512) return pick<avx512::Finder>(family);
    if (level == isa::Level::kAvx2) return pick<avx2::Finder>(family);
#endif
#if TOKSMITH_ARM
    if (level == isa::Level::kNeon) return pick<neon::Finder>(family);
#endif
    return pick<scalar::Finder>(family);
}

Splitter::Splitter(std::vector<SplitTable> all)
    : family(Family::kTable), tables(std::make_shared<std::vector<SplitTable>>(std::move(all))) {
    if (tables->empty() || tables->size() > kMostTables) {
        throw std::invalid_argument("a splitter needs 1 to " + std::to_string(kMostTables) +
                                    " tables");
    }
    for (const SplitTable& table : *tables) {
        if (table.may_get_lost() && (&table != tables->data() || tables->size() == 1))
            throw std::invalid_argument("only the first of several tables may get lost");
    }
}

const utf8::Byte* safe_cut(const Splitter& splitter, const utf8::Byte* from, const utf8::Byte* end,
                           const CutTable* cut_table) {
    const Family family = splitter.family;
    if (traits(family).whole) return end;
    if (traits(family).by_model) return cut_table ? cut_table->cut(from, end) : end;
    // Any byte but a continuation byte starts a character.
    while (from < end && utf8::is_continuation(*from)) ++from;
    if (traits(family).by_table) return (*splitter.tables)[0].next_sure_cut(from, end);
    unicode::Class before = unicode::Class::kOther;
    InterruptionPoints<std::size_t{1} << 19> points;
    for (const utf8::Byte* p = from; p < end;) {
        points.step();
        const unicode::Classified c = unicode::classify(p, end);
        const bool ends_word =
            unicode::is_space(c.kind) || (c.kind == unicode::Class::kOther && *p != '\'');
        if (ends_word && unicode::is_letter(before)) return p;
        before = c.kind;
        p += c.size;
    }
    return end;
}

}  // namespace toksmith

#include "split/cut.hpp"

#include "base/stop.hpp"
#include "split/cut_table.hpp"
#include "split/unicode.hpp"

namespace toksmith {

using unicode::Class;
using unicode::Classified;
using utf8::Byte;

const Byte* safe_cut(Family family, const Byte* from, const Byte* end, const CutTable* cut_table) {
    if (traits(family).whole) return end;
    if (traits(family).by_model) return cut_table ? cut_table->cut(from, end) : end;
    // A byte that continues no character starts one, however the bytes before it are read.
    while (from < end && utf8::is_continuation(*from)) ++from;
    Class before = Class::kOther;
    InterruptionPoints<std::size_t{1} << 19> points;
    for (const Byte* p = from; p < end;) {
        points.step();
        const Classified c = unicode::classify(p, end);
        const bool ends_word = unicode::is_space(c.kind) || (c.kind == Class::kOther && *p != '\'');
        if (ends_word && unicode::is_letter(before)) return p;
        before = c.kind;
        p += c.size;
    }
    return end;
}

}  // namespace toksmith

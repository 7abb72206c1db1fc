#include "train/word_counter.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <utility>

#include "parallel/parallel.hpp"

namespace toksmith {
namespace {

using Byte = std::uint8_t;

constexpr std::size_t kPiece = std::size_t{1} << 20;
constexpr std::string_view kReserved = "\xE2\x96\x85";  // U+2585

const Byte* find_break(const Byte* from, const Byte* end) {
    const void* found =
        from < end ? std::memchr(from, '\n', static_cast<std::size_t>(end - from)) : nullptr;
    return found ? static_cast<const Byte*>(found) : end;
}

constexpr std::size_t kAtOnce = 64;

// Calls found(place) for each space behind a printable ASCII character, eight bytes at a time.
template <typename Found>
void for_each_cut(Text line, Found found) {
    constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 0xFF, kLow = 0x7F * kOnes;
    const Byte* p = line.begin + 1;
    for (; line.end - p >= 8; p += 8) {
        std::uint64_t here, before;
        std::memcpy(&here, p, 8);
        std::memcpy(&before, p - 1, 8);
        const std::uint64_t other = here ^ ' ' * kOnes;  // 0 at spaces
        const std::uint64_t letter = before & kLow;
        // The highest bit of each byte tells.
        const std::uint64_t is_not_space = ((other & kLow) + kLow) | other;
        const std::uint64_t is_above_space = letter + (0x80 - 0x21) * kOnes;
        const std::uint64_t is_delete = letter + kOnes;
        std::uint64_t cuts = ~is_not_space & is_above_space & ~is_delete & ~before & ~kLow;
        for (; cuts; cuts &= cuts - 1) found(p + std::countr_zero(cuts) / 8);
    }
    for (; p < line.end; ++p) {
        if (*p == ' ' && p[-1] > ' ' && p[-1] < 0x7F) found(p);
    }
}

bool holds_reserved(Text line) {
    const std::string_view view(reinterpret_cast<const char*>(line.begin), line.size());
    return view.find(kReserved) != view.npos;
}

}  // namespace

void WordCounter::add(const std::vector<Text>& documents, std::size_t threads) {
    std::vector<Piece> pieces;
    for (Text rest : documents) {
        bool starts_document = true;
        while (rest.size() > kPiece + kPiece / 2) {
            const Byte* cut = find_break(rest.begin + kPiece, rest.end);
            if (cut == rest.end) break;
            pieces.push_back({{rest.begin, ++cut}, position_, starts_document});
            position_ += static_cast<std::uint64_t>(cut - rest.begin);
            rest.begin = cut;
            starts_document = false;
        }
        pieces.push_back({rest, position_, starts_document});
        position_ += rest.size() + 1;
    }
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, pieces.size()));
    if (tables_.size() < used) tables_.resize(used);
    std::vector<Lines> lines(used);
    std::atomic<std::size_t> next{0};
    run_on_threads(used, [&](std::size_t thread) {
        for (std::size_t i = next++; i < pieces.size(); i = next++) {
            count(pieces[i], tables_[thread], lines[thread]);
        }
    });
    for (const Lines& some : lines) {
        lines_.counted += some.counted;
        lines_.too_long += some.too_long;
        lines_.reserved += some.reserved;
    }
}

void WordCounter::count(const Piece& piece, ChunkTable& table, Lines& lines) const {
    const Byte *begin = piece.text.begin, *end = piece.text.end;
    for (const Byte* p = begin; p < end;) {
        const Text line{p, find_break(p, end)};
        if (line.size() == 0) {
            // An empty line holds nothing to learn from.
        } else if (options_.longest && line.size() > options_.longest) {
            ++lines.too_long;
        } else if (options_.reserved && holds_reserved(line)) {
            ++lines.reserved;
        } else {
            ++lines.counted;
            count_line(line, p > begin || !piece.starts_document,
                       piece.first + static_cast<std::uint64_t>(p - begin), end, table);
        }
        p = line.end + 1;
    }
}

// `marked`: a line break stands before the line.
void WordCounter::count_line(Text line, bool marked, std::uint64_t first, const Byte* text_end,
                             ChunkTable& table) const {
    if (!options_.words) {
        table.add(line.begin, line.size(), 1, first);
        return;
    }
    // Most lines stand behind the break that their first chunk starts with.
    const Byte* start = marked ? line.begin - 1 : line.begin;
    const Byte* ends[kAtOnce];
    std::size_t found = 0;
    const auto flush = [&] {
        if (found == 0) return;
        table.add_all(start, ends, found, first + static_cast<std::uint64_t>(start - line.begin),
                      text_end);
        start = ends[found - 1];
        found = 0;
    };
    bool needs_break = !marked;
    const auto add = [&](const Byte* end) {
        if (needs_break) {
            std::vector<Byte> with_break{'\n'};
            with_break.insert(with_break.end(), line.begin, end);
            table.add(with_break.data(), with_break.size(), 1, first);
            start = end;
            needs_break = false;
            return;
        }
        ends[found++] = end;
        if (found == kAtOnce) flush();
    };
    for_each_cut(line, add);
    add(line.end);
    flush();
}

DistinctChunks WordCounter::finish() {
    const std::size_t threads = tables_.size();
    return {std::exchange(tables_, {}), threads};
}

}  // namespace toksmith

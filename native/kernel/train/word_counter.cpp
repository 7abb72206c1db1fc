#include "train/word_counter.hpp"

#include <algorithm>
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
                       piece.first + static_cast<std::uint64_t>(p - begin), table);
        }
        p = line.end + 1;
    }
}

// `marked`: a line break stands before the line.
void WordCounter::count_line(Text line, bool marked, std::uint64_t first, ChunkTable& table) const {
    if (!options_.words) {
        table.add(line.begin, line.size(), 1, first);
        return;
    }
    const Byte* start = line.begin;
    const auto add = [&](const Byte* end) {
        const auto size = static_cast<std::size_t>(end - start);
        const std::uint64_t place = first + static_cast<std::uint64_t>(start - line.begin);
        if (start > line.begin) {
            table.add(start, size, 1, place);
        } else if (marked) {
            table.add(start - 1, size + 1, 1, place);
        } else {
            std::vector<Byte> with_break{'\n'};
            with_break.insert(with_break.end(), start, end);
            table.add(with_break.data(), with_break.size(), 1, place);
        }
        start = end;
    };
    for (const Byte* p = line.begin + 1; p < line.end; ++p) {
        if (*p == ' ' && p[-1] > ' ' && p[-1] < 0x7F) add(p);
    }
    add(line.end);
}

ChunkTable WordCounter::finish() { return ChunkTable::merged(std::exchange(tables_, {})); }

}  // namespace toksmith

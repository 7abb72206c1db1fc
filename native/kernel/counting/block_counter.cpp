// Counts the words, or the lines, of one block of a document, for WordCounter.
#include <algorithm>
#include <bit>
#include <cstring>
#include <string_view>
#include <vector>

#include "counting/word_counter.hpp"
#include "utf8/decode.hpp"

namespace toksmith {
namespace {

using Byte = std::uint8_t;

constexpr std::string_view kReserved = "\xE2\x96\x85";  // U+2585

// Whether a line is cut at p: at a space that follows a printable ASCII character.
bool is_cut(const Byte* p) { return *p == ' ' && p[-1] > ' ' && p[-1] < 0x7F; }

// Calls found(place) for each cut; processes eight bytes at a time.
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
        // The highest bit of each byte is the result for that byte.
        const std::uint64_t is_not_space = ((other & kLow) + kLow) | other;
        const std::uint64_t is_above_space = letter + (0x80 - 0x21) * kOnes;
        const std::uint64_t is_delete = letter + kOnes;
        std::uint64_t cuts = ~is_not_space & is_above_space & ~is_delete & ~before & ~kLow;
        for (; cuts; cuts &= cuts - 1) found(p + std::countr_zero(cuts) / 8);
    }
    for (; p < line.end; ++p) {
        if (is_cut(p)) found(p);
    }
}

// The last cut of the line, or its start.
const Byte* last_cut(Text line) {
    for (const Byte* p = line.end - 1; p > line.begin; --p) {
        if (is_cut(p)) return p;
    }
    return line.begin;
}

// The first cut of the line, or its end.
const Byte* first_cut(Text line) {
    for (const Byte* p = line.begin + 1; p < line.end; ++p) {
        if (is_cut(p)) return p;
    }
    return line.end;
}

bool holds_reserved(Text line) {
    const std::string_view view(reinterpret_cast<const char*>(line.begin), line.size());
    return view.find(kReserved) != view.npos;
}

// The number of non-empty lines that start in the text, which follows a line break.
std::uint64_t lines_in(Text text) {
    constexpr std::uint64_t kOnes = ~std::uint64_t{0} / 0xFF, kLow = 0x7F * kOnes;
    const auto breaks = [](const Byte* p) {
        std::uint64_t word;
        std::memcpy(&word, p, 8);
        word ^= '\n' * kOnes;
        return ~(((word & kLow) + kLow) | word | kLow);  // in the highest bit of each byte
    };
    std::uint64_t lines = 0;
    const Byte* p = text.begin;
    for (; text.end - p >= 8; p += 8) {
        lines += (((breaks(p - 1) & ~breaks(p)) >> 7) * kOnes) >> 56;
    }
    for (; p < text.end; ++p) lines += p[-1] == '\n' && *p != '\n';
    return lines;
}

}  // namespace

class WordCounter::BlockCounter {
 public:
    BlockCounter(const WordCounter& counter, const Block& block, Part& part)
        : options_(counter.options_),
          plain_(counter.plain_ ? &*counter.plain_ : nullptr),
          block_(block),
          end_(block.text.end),
          part_(part),
          most_(options_.longest ? std::min(options_.longest, kWindow) : kWindow) {}

    void run() {
        const Byte* p = block_.text.begin;
        if (block_.starts_document && p < end_) p = count_line(p, false);
        while (p < end_) p = plain_ ? count_lines(p) : count_line(p, true);
    }

 private:
    static constexpr std::size_t kWindow = 4096;  // bytes that are checked for plain text at once
    static constexpr std::size_t kAtOnce = 64;    // chunks that are counted at once

    // Counts the lines that start in a window, at least one. Returns the start of the next line.
    const Byte* count_lines(const Byte* p) {
        const Byte* stop = end_;
        if (static_cast<std::size_t>(end_ - p) > most_) {
            stop = p + most_;
            while (stop > p && *stop != '\n') --stop;
            if (*stop != '\n') return count_line(p, true);
        }
        if (count_plain({p - 1, stop}, place(p) - 1)) {
            part_.lines.counted += lines_in({p, stop});
            return stop + 1;
        }
        do {
            p = count_line(p, true);
        } while (p < stop);
        return p;
    }

    // Counts a line. Returns the start of the next one. `marked`: a line break precedes the line.
    const Byte* count_line(const Byte* begin, bool marked) {
        const Text line{begin, find_break(begin, end_)};
        if (line.size() == 0) {
            // Empty lines are not counted.
        } else if (options_.longest && line.size() > options_.longest) {
            ++part_.lines.too_long;
        } else if (options_.reserved && holds_reserved(line)) {
            ++part_.lines.reserved;
        } else {
            ++part_.lines.counted;
            if (options_.words) {
                count_words(line, marked);
            } else {
                part_.chunks.add(line.begin, line.size(), 1, place(line.begin));
            }
        }
        return line.end + 1;
    }

    void count_words(Text line, bool marked) {
        Text rest{marked ? line.begin - 1 : first_cut(line), line.end};
        if (!marked) {
            std::vector<Byte> with_break{'\n'};
            with_break.insert(with_break.end(), line.begin, rest.begin);
            const Byte* const end = with_break.data() + with_break.size();
            count_chunks({with_break.data(), end}, place(line.begin) - 1, end);
        }
        while (plain_ && rest.size() > kWindow) {
            const Byte* cut = last_cut({rest.begin, rest.begin + kWindow});
            if (cut == rest.begin) cut = first_cut(rest);
            count_chunks({rest.begin, cut}, place(rest.begin), end_);
            rest.begin = cut;
        }
        if (rest.size() > 0) count_chunks(rest, place(rest.begin), end_);
    }

    // Counts adjacent chunks. `first`: the position of the first chunk; `readable`: the end of the
    // readable text.
    void count_chunks(Text text, std::uint64_t first, const Byte* readable) {
        if (plain_ && count_plain(text, first)) return;
        // Counts ranges of chunks together that are all ASCII, or all not.
        const Byte* start = text.begin;
        const Byte* ends[kAtOnce];
        std::size_t found = 0;
        bool is_plain = false;
        const auto place_of = [&](const Byte* p) {
            return first + static_cast<std::uint64_t>(p - text.begin);
        };
        const auto flush = [&] {
            if (found == 0) return;
            if (!is_plain) {
                add_chunks(start, ends, found, place_of(start), readable);
                start = ends[found - 1];
            } else if (count_plain({start, ends[found - 1]}, place_of(start))) {
                start = ends[found - 1];
            } else {
                for (std::size_t i = 0; i < found; start = ends[i++]) {
                    if (count_plain({start, ends[i]}, place_of(start))) continue;
                    add_chunks(start, ends + i, 1, place_of(start), readable);
                }
            }
            found = 0;
        };
        const auto add = [&](const Byte* end) {
            const Byte* const begin = found > 0 ? ends[found - 1] : start;
            const bool may_be_plain = plain_ && utf8::is_ascii(begin, end);
            if (may_be_plain != is_plain) flush();
            is_plain = may_be_plain;
            ends[found++] = end;
            if (found == kAtOnce) flush();
        };
        for_each_cut(text, add);
        add(text.end);
        flush();
    }

    // Counts adjacent chunks as they are, or cut by the table of cuts. `first`: the position of
    // `begin`.
    void add_chunks(const Byte* begin, const Byte* const* ends, std::size_t chunks,
                    std::uint64_t first, const Byte* readable) {
        const CutTable* const cut_table = options_.cut_table.get();
        if (!cut_table) return part_.chunks.add_all(begin, ends, chunks, first, readable);
        const Byte* start = begin;  // of the chunks that are found
        const Byte* cuts[kAtOnce];
        std::size_t found = 0;
        const auto add = [&](const Byte* end) {
            cuts[found++] = end;
            if (found < kAtOnce) return;
            part_.chunks.add_all(start, cuts, found,
                                 first + static_cast<std::uint64_t>(start - begin), readable);
            start = end;
            found = 0;
        };
        const Byte* chunk = begin;
        for (std::size_t i = 0; i < chunks; chunk = ends[i++]) {
            const std::string_view view(reinterpret_cast<const char*>(chunk),
                                        static_cast<std::size_t>(ends[i] - chunk));
            if (utf8::is_valid(view)) {
                for (const Byte* p = chunk; p < ends[i];) add(p = cut_table->next(p, ends[i]));
            } else {
                add(ends[i]);
            }
        }
        if (found == 0) return;
        part_.chunks.add_all(start, cuts, found, first + static_cast<std::uint64_t>(start - begin),
                             readable);
    }

    // Counts the words of a text if it is plain; otherwise returns false.
    bool count_plain(Text text, std::uint64_t first) {
        if (!utf8::is_ascii(text.begin, text.end)) return false;
        make_room(text.size());
        const std::size_t words =
            plain_->read(text.begin, text.end, part_.letters.data(), part_.ends.data());
        if (words == 0) return false;
        part_.plain.add_all(part_.letters.data(), part_.ends.data(), words, first,
                            part_.letters.data() + part_.letters.size());
        return true;
    }

    void make_room(std::size_t size) {
        if (part_.ends.size() >= size) return;
        part_.ends.resize(size);
        part_.letters.resize(size + kReadable);
    }
    // Padding after the letters, so that a key can be loaded at once.
    static constexpr std::size_t kReadable = 16;

    std::uint64_t place(const Byte* p) const {
        return block_.first + static_cast<std::uint64_t>(p - block_.text.begin);
    }

    const Options& options_;
    const PlainReader* plain_;
    const Block& block_;
    const Byte* end_;
    Part& part_;
    std::size_t most_;  // bytes of lines to read at once, at most the longest line
};

const std::uint8_t* WordCounter::find_break(const std::uint8_t* from, const std::uint8_t* end) {
    const void* found =
        from < end ? std::memchr(from, '\n', static_cast<std::size_t>(end - from)) : nullptr;
    return found ? static_cast<const Byte*>(found) : end;
}

void WordCounter::count(const Block& block, Part& part) const {
    BlockCounter(*this, block, part).run();
}

}  // namespace toksmith

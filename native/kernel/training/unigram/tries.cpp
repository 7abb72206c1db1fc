#include "training/unigram/tries.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/stop.hpp"

namespace toksmith::unigram {
namespace {

// Renumbers the pieces of a trie's arcs. An arc of length 1 whose piece is dropped becomes an
// unknown character; other arcs are removed with their pieces.
class Renumbering {
 public:
    Renumbering(const std::vector<std::uint32_t>& numbers, ArcFormat format)
        : numbers_(numbers), format_(format) {}

    void renumber_words(Trie& trie) {
        Writer writer{trie.arcs.data()};
        std::uint32_t begin = 0;
        for (Trie::String& word : trie.strings) {
            copy(trie, begin, word.end, std::numeric_limits<std::uint32_t>::max(), writer);
            begin = word.end;
            word.end = writer.end(trie);
        }
        finish(trie, writer);
    }

    // Strings whose pieces are dropped keep the nodes that later strings share.
    void renumber_spellings(Trie& trie) {
        std::vector<std::uint32_t> kept(trie.strings.size());  // the maximum depth of kept nodes
        std::uint32_t shared = 0;                              // by later strings
        for (std::size_t i = trie.strings.size(); i-- > 0;) {
            Trie::String& string = trie.strings[i];
            string.value = numbers_[string.value];
            kept[i] = string.value ? std::numeric_limits<std::uint32_t>::max() : shared;
            shared = string.value ? string.shared : std::min(shared, string.shared);
        }
        Writer writer{trie.arcs.data()};
        std::uint32_t begin = 0;
        std::size_t size = 0;
        for (std::size_t i = 0; i < trie.strings.size(); ++i) {
            Trie::String string = trie.strings[i];
            const std::uint32_t end = string.end;
            if (kept[i] > string.shared) {
                copy(trie, begin, end, kept[i] - string.shared, writer);
                string.end = writer.end(trie);
                trie.strings[size++] = string;
            }
            begin = end;
        }
        trie.strings.resize(size);
        finish(trie, writer);
    }

 private:
    struct Writer {
        std::uint32_t* out;

        std::uint32_t end(const Trie& trie) const {
            return static_cast<std::uint32_t>(out - trie.arcs.data());
        }
    };

    // Copies the arcs of at most `nodes` nodes.
    void copy(const Trie& trie, std::uint32_t begin, std::uint32_t end, std::uint32_t nodes,
              Writer& writer) {
        points_.in_parts(end - begin, [&](std::size_t first, std::size_t last) {
            for (std::size_t i = begin + first; i < begin + last; ++i) {
                const std::uint32_t length = format_.length(trie.arcs[i]);
                const std::uint32_t piece = numbers_[format_.piece(trie.arcs[i])];
                if (length == 1 && nodes-- == 0) {
                    nodes = 0;
                    skip_ = true;
                }
                if (!skip_ && (piece || length == 1)) *writer.out++ = format_.arc(piece, length);
            }
        });
        skip_ = false;
    }

    static void finish(Trie& trie, const Writer& writer) { trie.arcs.resize(writer.end(trie)); }

    const std::vector<std::uint32_t>& numbers_;
    ArcFormat format_;
    bool skip_ = false;
    InterruptionPoints<(1 << 14)> points_;
};

}  // namespace

void drop(const std::vector<std::uint8_t>& dropped, Seeds& seeds, const Workers& workers) {
    std::vector<std::uint32_t> numbers(seeds.pieces.size());  // the new ones; 0: dropped
    std::size_t kept = 1;
    for (std::size_t piece = 1; piece < numbers.size(); ++piece) {
        if (dropped[piece]) continue;
        numbers[piece] = static_cast<std::uint32_t>(kept);
        seeds.pieces[kept++] = seeds.pieces[piece];
    }
    if (kept == numbers.size()) return;
    seeds.pieces.resize(kept);
    seeds.pieces.shrink_to_fit();
    std::vector<Trie> buffers(workers.threads);
    workers.run(seeds.tries.size(), [&](std::size_t thread, std::size_t job) {
        Renumbering renumbering(numbers, seeds.format);
        Trie& trie = seeds.tries.take(job, buffers[thread]);
        if (job < seeds.words) {
            renumbering.renumber_words(trie);
        } else {
            renumbering.renumber_spellings(trie);
        }
        seeds.tries.put(job, trie);
    });
}

}  // namespace toksmith::unigram

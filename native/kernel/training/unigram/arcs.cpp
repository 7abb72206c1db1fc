// Writes words and pieces with the pieces that match in them to tries.
#include <algorithm>
#include <atomic>
#include <mutex>
#include <utility>

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "training/unigram/piece_matcher.hpp"
#include "training/unigram/tries.hpp"

namespace toksmith::unigram {
namespace {

// Writes the arcs of strings in order to a trie. One thread has one.
class ArcWriter {
 public:
    ArcWriter(const PieceMatcher& pieces, ArcFormat format)
        : pieces_(pieces), format_(format), arcs_(std::size_t{1} << format.length_bits) {}

    // Adds a string of `size` characters, of which the string before has the first `shared`.
    void add(const std::uint32_t* string, std::size_t size, std::uint32_t shared,
             std::uint64_t value, Trie& out) {
        states_.resize(shared + 1);
        points_.in_parts(size - shared, [&](std::size_t first, std::size_t last) {
            for (std::size_t place = shared + first; place < shared + last; ++place) {
                states_.push_back(pieces_.next(states_.back(), string[place]));
                add_node(states_.back(), out.arcs);
            }
        });
        out.end(shared, value);
    }

 private:
    void add_node(PieceMatcher::State state, std::vector<std::uint32_t>& arcs) {
        std::uint32_t* const end = arcs_.data() + arcs_.size();
        std::uint32_t *first = end, length = 0;
        for (std::uint32_t piece = pieces_.longest(state); piece; piece = pieces_.shorter(piece)) {
            length = pieces_.length(piece);
            *--first = format_.arc(piece, length);
        }
        if (length != 1) *--first = format_.arc(0, 1);
        arcs.insert(arcs.end(), first, end);
    }

    const PieceMatcher& pieces_;
    ArcFormat format_;
    std::vector<PieceMatcher::State> states_{PieceMatcher::kStart};  // by depth
    std::vector<std::uint32_t> arcs_;  // buffer: those of a node, at most one of each length
    InterruptionPoints<(1 << 14)> points_;
};

// Writes the blocks of words. Threads take turns at reading. Returns the number of blocks.
std::size_t write_words(WordStore& words, const PieceMatcher& pieces, const Workers& workers,
                        Seeds& seeds) {
    const std::unique_ptr<WordReader> reader = words.reader();
    std::mutex reading;
    std::size_t blocks = 0;
    run_on_threads(workers.threads, [&](std::size_t) {
        ArcWriter writer(pieces, seeds.format);
        WordBlock block;
        Trie trie;
        for (;;) {
            interruption_point();
            std::size_t number;
            {
                const std::lock_guard lock(reading);
                if (!reader->next(block)) return;
                number = blocks++;
            }
            trie.clear();
            std::size_t start = 0;
            for (const WordBlock::Word& word : block.words) {
                writer.add(block.text.data() + start, word.end - start, word.shared, word.count,
                           trie);
                start = word.end;
            }
            seeds.tries.put(number, trie);
        }
    });
    return blocks;
}

void write_pieces(const PieceMatcher& pieces, const Workers& workers, Seeds& seeds) {
    constexpr std::size_t kBlock = 1 << 12;
    const std::vector<std::uint32_t>& in_order = pieces.in_order();
    const std::size_t blocks = (in_order.size() + kBlock - 1) / kBlock;
    std::vector<ArcWriter> writers(workers.threads, ArcWriter(pieces, seeds.format));
    std::vector<Trie> tries(workers.threads);
    workers.run(blocks, [&](std::size_t thread, std::size_t job) {
        const std::size_t first = job * kBlock, last = std::min(in_order.size(), first + kBlock);
        Trie& trie = tries[thread];
        trie.clear();
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t piece = in_order[i];
            const std::uint32_t shared = i > first ? pieces.common(in_order[i - 1], piece) : 0;
            writers[thread].add(pieces.spelling(piece), pieces.length(piece), shared, piece, trie);
        }
        seeds.tries.put(seeds.words + job, trie);
    });
}

}  // namespace

void write_tries(WordStore& words, std::size_t memory, const Workers& workers, Seeds& seeds) {
    const PieceMatcher pieces(seeds.pieces, seeds.spelled, words.alphabet().size());
    seeds.tries = TrieStore(words.file());
    seeds.tries.limit(memory - std::min(memory, pieces.bytes()));
    seeds.words = write_words(words, pieces, workers, seeds);
    words.clear();
    write_pieces(pieces, workers, seeds);
    seeds.tries.limit(memory);
}

}  // namespace toksmith::unigram

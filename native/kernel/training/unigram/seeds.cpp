// Makes the initial pieces: all characters and the best substrings, with their lattices.
#include <algorithm>
#include <bit>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "base/stop.hpp"
#include "training/unigram/lattices.hpp"
#include "training/unigram/suffixes.hpp"

namespace toksmith::unigram {
namespace {

struct Candidate {
    std::uint64_t covered;      // the number of characters of the text in its occurrences
    std::uint32_t first, last;  // the range of suffixes that start with it
    std::uint32_t length;

    // Orders better candidates first; equal ones by code points.
    bool operator<(const Candidate& other) const {
        if (covered != other.covered) return covered > other.covered;
        return first != other.first ? first < other.first : length < other.length;
    }
};

// Selects the best of a large number of candidates.
class Best {
 public:
    explicit Best(std::size_t most) : most_(most) {}

    void add(const Candidate& candidate) {
        if (full_ && kept_[most_ - 1] < candidate) return;
        kept_.push_back(candidate);
        if (kept_.size() >= 4 * most_ + 1024) trim();
    }
    void add(const Best& others) {
        for (const Candidate& candidate : others.kept_) add(candidate);
    }
    std::vector<Candidate> sorted() {
        trim();
        InterruptionPoints<4096> points;
        std::sort(kept_.begin(), kept_.end(), with_interruption(points, std::less<>()));
        return std::move(kept_);
    }

 private:
    void trim() {
        if (kept_.size() <= most_) return;
        if (most_ > 0) {  // from then on, the last candidate is the worst
            InterruptionPoints<(1 << 16)> points;
            std::nth_element(kept_.begin(), kept_.begin() + static_cast<std::ptrdiff_t>(most_ - 1),
                             kept_.end(), with_interruption(points, std::less<>()));
            full_ = true;
        }
        kept_.resize(most_);
    }

    std::size_t most_;
    bool full_ = false;
    std::vector<Candidate> kept_;
};

// Whether a substring may be a piece. Builds it from single characters, since the rules need two
// valid halves: extends it to the left if spaces are at the start of words, otherwise to the right.
bool is_valid(const CountedWords& words, const bpe::PieceRules& rules, const Candidate& candidate,
              std::uint32_t place) {
    if (candidate.length > rules.longest) return false;
    const auto traits = [&](std::uint32_t i) { return words.alphabet[words.text[place + i] - 1]; };
    if (rules.space_as_suffix) {
        bpe::PieceTraits whole = traits(0);
        for (std::uint32_t i = 1; i < candidate.length; ++i) {
            if (!rules.allow(whole, traits(i))) return false;
            whole = bpe::joined(whole, traits(i));
        }
        return true;
    }
    bpe::PieceTraits whole = traits(candidate.length - 1);
    for (std::uint32_t i = candidate.length - 1; i-- > 0;) {
        if (!rules.allow(traits(i), whole)) return false;
        whole = bpe::joined(traits(i), whole);
    }
    return true;
}

std::vector<std::uint32_t> owners(const CountedWords& words) {
    std::vector<std::uint32_t> result;
    result.reserve(words.text.size());
    InterruptionPoints<(1 << 16)> points;
    for (std::size_t word = 0; word < words.starts.size(); ++word) {
        const std::size_t start = words.starts[word];
        points.in_parts(words.end(word) + 1 - start, [&](std::size_t, std::size_t last) {
            result.resize(start + last, static_cast<std::uint32_t>(word));
        });
    }
    return result;
}

std::vector<Candidate> best_substrings(const CountedWords& words, const Suffixes& suffixes,
                                       const TrainingOptions& options, const Workers& workers) {
    const std::vector<std::uint32_t> owner = owners(words);
    std::vector<Best> best(workers.threads, Best(options.seeds));
    workers.run(words.alphabet.size(), [&](std::size_t thread, std::size_t bucket) {
        shared_substrings(words, suffixes, bucket, owner, [&](const Shared& found) {
            if (found.count < 2) return;
            const Candidate candidate{found.count * found.length, found.first, found.last,
                                      found.length};
            if (is_valid(words, options.rules, candidate, suffixes.places[found.first])) {
                best[thread].add(candidate);
            }
        });
    });
    for (std::size_t i = 1; i < best.size(); ++i) best[0].add(best[i]);
    return best[0].sorted();
}

// The characters of the words, in descending order of frequency.
std::vector<Candidate> characters(const CountedWords& words, const Suffixes& suffixes) {
    std::vector<std::uint64_t> counts(words.alphabet.size());
    InterruptionPoints<(1 << 16)> points;
    for (std::size_t word = 0; word < words.starts.size(); ++word) {
        for (std::uint32_t place = words.starts[word]; place < words.end(word); ++place) {
            points.step();
            counts[words.text[place] - 1] += words.counts[word];
        }
    }
    std::vector<Candidate> result;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0) {
            result.push_back({counts[i], suffixes.buckets[i], suffixes.buckets[i + 1], 1});
        }
    }
    std::sort(result.begin(), result.end());
    return result;
}

std::vector<Block> cut(const CountedWords& words) {
    std::vector<Block> blocks;
    for (std::size_t word = 0; word < words.starts.size(); ++word) {
        if (blocks.empty() ||
            (words.starts[word] - blocks.back().first_place) >> Lattices::kBlockBits) {
            blocks.push_back({word, word, words.starts[word], {}, {}});
        }
        blocks.back().last_word = word + 1;
    }
    return blocks;
}

// Computes the arcs of all places: pieces (numbered from 1) match at a place if they are a prefix
// of the suffix that starts there.
Lattices write_arcs(const CountedWords& words, const Suffixes& suffixes,
                    const std::vector<Candidate>& chosen, ArcFormat format,
                    const Workers& workers) {
    // Sorted so that a prefix of a piece comes before the piece.
    std::vector<std::uint32_t> in_order(chosen.size());
    for (std::size_t i = 0; i < chosen.size(); ++i) in_order[i] = static_cast<std::uint32_t>(i);
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const Candidate &left = chosen[a], &right = chosen[b];
        return left.first != right.first ? left.first < right.first : left.length < right.length;
    };
    InterruptionPoints<4096> sorting;
    std::sort(in_order.begin(), in_order.end(), with_interruption(sorting, before));
    // Calls visit(place, pieces) for each suffix.
    const auto sweep = [&](auto visit) {
        workers.run(words.alphabet.size(), [&](std::size_t, std::size_t bucket) {
            std::vector<std::uint32_t> open;  // pieces that are a prefix of the current suffix
            InterruptionPoints<4096> points;
            auto next = std::lower_bound(
                in_order.begin(), in_order.end(), suffixes.buckets[bucket],
                [&](std::uint32_t piece, std::uint32_t i) { return chosen[piece].first < i; });
            for (std::uint32_t i = suffixes.buckets[bucket]; i < suffixes.buckets[bucket + 1];
                 ++i) {
                points.step();
                while (!open.empty() && chosen[open.back()].last <= i) open.pop_back();
                for (; next != in_order.end() && chosen[*next].first == i; ++next) {
                    open.push_back(*next);
                }
                visit(suffixes.places[i], open);
            }
        });
    };

    std::vector<std::uint16_t> arcs_at;
    grow(arcs_at, words.text.size());
    sweep([&](std::uint32_t place, const std::vector<std::uint32_t>& pieces) {
        arcs_at[place] = static_cast<std::uint16_t>(pieces.size());
    });
    Lattices lattices{cut(words), {}, format};
    InterruptionPoints<(1 << 16)> points;
    for (Block& block : lattices.blocks) {
        const auto number = static_cast<std::uint32_t>(&block - lattices.blocks.data());
        const std::uint32_t end = words.end(block.last_word - 1) + 1;
        while (lattices.block_numbers.size() << Lattices::kBlockBits < end) {
            lattices.block_numbers.push_back(number ? number - 1 : 0);
        }
        std::uint64_t arcs = 0;
        block.offsets.reserve(end - block.first_place + 1);
        for (std::uint32_t place = block.first_place; place < end; ++place) {
            points.step();
            block.offsets.push_back(static_cast<std::uint32_t>(arcs));
            arcs += arcs_at[place];
        }
        if (arcs > 0xFFFFFFFFu)
            throw std::length_error("a word has too many matching seeds: use fewer seeds");
        block.offsets.push_back(static_cast<std::uint32_t>(arcs));
        grow(block.arcs, arcs);
    }
    sweep([&](std::uint32_t place, const std::vector<std::uint32_t>& pieces) {
        Block& block = const_cast<Block&>(lattices.block_at(place));
        std::uint32_t* out = block.arcs.data() + block.offsets[place - block.first_place];
        for (const std::uint32_t piece : pieces) {
            *out++ = format.arc(piece + 1, chosen[piece].length);
        }
    });
    return lattices;
}

}  // namespace

Seeds make_seeds(const CountedWords& words, const TrainingOptions& options,
                 const Workers& workers) {
    const auto longest =
        static_cast<std::uint32_t>(std::max<std::size_t>(options.rules.longest, 1));
    // One more character shows which of the longest substrings have different continuations.
    const Suffixes suffixes = sort_suffixes(words, longest + 1, workers);
    std::vector<Candidate> chosen = characters(words, suffixes);
    const std::vector<Candidate> best = best_substrings(words, suffixes, options, workers);
    chosen.insert(chosen.end(), best.begin(), best.end());

    const ArcFormat format{static_cast<unsigned>(std::bit_width(longest - 1))};
    if (chosen.size() + 1 > format.most_pieces()) {
        throw std::length_error("too many seeds for this maximum piece length: use fewer seeds");
    }
    double total = 0;
    for (const Candidate& candidate : chosen) total += static_cast<double>(candidate.covered);
    Seeds seeds;
    seeds.pieces.push_back({0, 1, 0.0});
    InterruptionPoints<4096> points;
    for (const Candidate& candidate : chosen) {
        points.step();
        seeds.pieces.push_back({suffixes.places[candidate.first], candidate.length,
                                std::log(static_cast<double>(candidate.covered) / total)});
    }
    seeds.lattices = write_arcs(words, suffixes, chosen, format, workers);
    return seeds;
}

}  // namespace toksmith::unigram

// Makes the initial pieces: all characters and the best substrings, with their lattices.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <mutex>
#include <optional>
#include <stdexcept>

#include "base/stop.hpp"
#include "training/unigram/suffixes.hpp"
#include "training/unigram/tries.hpp"

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

// Selects the best of a large number of candidates. Thread-safe.
class Best {
 public:
    explicit Best(std::size_t most) : most_(most) {}

    // The candidates of one thread that are not yet compared.
    class Batch {
     public:
        explicit Batch(Best& best) : best_(&best) {}

        void add(const Candidate& candidate) {
            waiting_.push_back(candidate);
            if (waiting_.size() == kBatch) flush();
        }
        void flush() {
            best_->add(waiting_);
            waiting_.clear();
        }

     private:
        static constexpr std::size_t kBatch = 4096;

        Best* best_;
        std::vector<Candidate> waiting_;
    };

    // Whether a candidate that covers so much may be among the best.
    bool may_add(std::uint64_t covered) const {
        return covered >= least_.load(std::memory_order_relaxed);
    }
    // Adds the best candidates to `chosen`, in order.
    void move_to(std::vector<Candidate>& chosen) {
        trim();
        InterruptionPoints<4096> points;
        std::sort(kept_.begin(), kept_.end(), with_interruption(points, std::less<>()));
        chosen.insert(chosen.end(), kept_.begin(), kept_.end());
        kept_ = {};
    }

 private:
    void add(const std::vector<Candidate>& candidates) {
        const std::lock_guard lock(guard_);
        kept_.insert(kept_.end(), candidates.begin(), candidates.end());
        if (kept_.size() >= most_ + most_ / 2 + 4096) trim();
    }

    void trim() {
        if (kept_.size() <= most_) return;
        if (most_ > 0) {
            InterruptionPoints<(1 << 16)> points;
            const auto last = kept_.begin() + static_cast<std::ptrdiff_t>(most_ - 1);
            std::nth_element(kept_.begin(), last, kept_.end(),
                             with_interruption(points, std::less<>()));
            least_ = last->covered;  // a candidate that covers less is not among the best
        }
        kept_.resize(most_);
    }

    std::size_t most_;
    std::atomic<std::uint64_t> least_ = 0;
    std::mutex guard_;
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

void add_substrings(const CountedWords& words, const DistinctSuffixes& distinct,
                    const Suffixes& suffixes, const TrainingOptions& options,
                    const Workers& workers, std::vector<Candidate>& chosen) {
    Best best(options.seeds);
    std::vector<Best::Batch> batches(workers.threads, Best::Batch(best));
    workers.run(words.alphabet.size(), [&](std::size_t thread, std::size_t bucket) {
        shared_substrings(words, distinct, suffixes, bucket, [&](const Shared& found) {
            if (found.count < 2 || !best.may_add(found.count * found.length)) return;
            const Candidate candidate{found.count * found.length, found.first, found.last,
                                      found.length};
            if (is_valid(words, options.rules, candidate, suffixes.places[found.first])) {
                batches[thread].add(candidate);
            }
        });
    });
    for (Best::Batch& batch : batches) batch.flush();
    best.move_to(chosen);
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

// The longest seed that matches at each place of the text. The others are prefixes of it.
struct Matches {
    std::vector<std::uint32_t>& longest;  // numbered from 1
    std::vector<std::uint32_t> parents;   // of each seed, the longest other one that is a prefix
    std::vector<std::uint32_t> lengths;   // of the seeds
    std::vector<std::uint32_t> in_order;  // the seeds in the order of their characters
};

// Seeds match at a place if they are a prefix of the suffix that starts there. The result takes the
// memory of the text.
Matches match(CountedWords& words, const WordEnds& ends, const Suffixes& suffixes,
              const std::vector<Candidate>& chosen, const Workers& workers) {
    Matches result{words.text, {0}, {0}, {}};
    for (const Candidate& candidate : chosen) {
        result.parents.push_back(0);
        result.lengths.push_back(candidate.length);
        result.in_order.push_back(static_cast<std::uint32_t>(result.in_order.size()) + 1);
    }
    // A prefix of a seed comes before the seed.
    const auto before = [&](std::uint32_t a, std::uint32_t b) {
        const Candidate &left = chosen[a - 1], &right = chosen[b - 1];
        return left.first != right.first ? left.first < right.first : left.length < right.length;
    };
    InterruptionPoints<4096> sorting;
    std::sort(result.in_order.begin(), result.in_order.end(), with_interruption(sorting, before));
    workers.run(words.alphabet.size(), [&](std::size_t, std::size_t bucket) {
        std::vector<std::uint32_t> open;  // the seeds that are a prefix of the current suffix
        InterruptionPoints<4096> points;
        auto next = std::lower_bound(
            result.in_order.begin(), result.in_order.end(), suffixes.buckets[bucket],
            [&](std::uint32_t seed, std::uint32_t i) { return chosen[seed - 1].first < i; });
        for (std::uint32_t i = suffixes.buckets[bucket]; i < suffixes.buckets[bucket + 1]; ++i) {
            points.step();
            while (!open.empty() && chosen[open.back() - 1].last <= i) open.pop_back();
            for (; next != result.in_order.end() && chosen[*next - 1].first == i; ++next) {
                result.parents[*next] = open.empty() ? 0 : open.back();
                open.push_back(*next);
            }
            result.longest[suffixes.places[i]] = open.back();
        }
    });
    InterruptionPoints<(1 << 16)> points;
    for (std::size_t i = 1; i < ends.order.size(); ++i) {  // the suffixes that the word before has
        const std::uint32_t here = words.end(ends.order[i]), there = words.end(ends.order[i - 1]);
        points.in_parts(ends.shared[i], [&](std::size_t first, std::size_t last) {
            for (std::size_t k = first + 1; k <= last; ++k) {
                result.longest[here - k] = result.longest[there - k];
            }
        });
    }
    return result;
}

// Writes the arcs of strings to a trie. One thread has one.
class ArcWriter {
 public:
    ArcWriter(const Matches& matches, ArcFormat format) : matches_(matches), format_(format) {}

    // Adds the string at places [first, last) of the text.
    void add(std::uint32_t first, std::uint32_t last, std::uint32_t shared, std::uint64_t value,
             Trie& out) {
        // Only arcs that end beyond the shared prefix; those of one node are linked.
        const std::uint32_t begin = first + shared;
        const std::uint32_t longest = std::uint32_t{1} << format_.length_bits;
        const std::uint32_t from = shared < longest ? first : begin - longest;
        heads_.assign(last - begin, kEnd);
        links_.clear();
        points_.in_parts(last - from, [&](std::size_t low, std::size_t high) {
            for (std::size_t place = from + low; place < from + high; ++place) {
                std::uint32_t seed = matches_.longest[place];
                for (; seed; seed = matches_.parents[seed]) {
                    const std::uint32_t length = matches_.lengths[seed];
                    const std::size_t end = place + length;
                    if (end <= begin) break;
                    if (end > last) continue;
                    std::uint32_t& head = heads_[end - begin - 1];
                    links_.push_back({format_.arc(seed, length), head});
                    head = static_cast<std::uint32_t>(links_.size() - 1);
                }
            }
        });
        points_.in_parts(last - begin, [&](std::size_t low, std::size_t high) {
            for (; low < high; ++low) {
                for (std::uint32_t i = heads_[low]; i != kEnd; i = links_[i].next) {
                    out.arcs.push_back(links_[i].arc);
                }
            }
        });
        out.end(shared, value);
    }

 private:
    struct Link {
        std::uint32_t arc, next;
    };
    static constexpr std::uint32_t kEnd = 0xFFFFFFFFu;

    const Matches& matches_;
    ArcFormat format_;
    std::vector<std::uint32_t> heads_;  // of each node, its shortest arc so far
    std::vector<Link> links_;
    InterruptionPoints<(1 << 14)> points_;
};

std::vector<Trie> tries_of_words(const CountedWords& words, const Matches& matches,
                                 const std::vector<std::uint32_t>& shared, ArcFormat format,
                                 const Workers& workers) {
    constexpr std::uint64_t kBlock = 1 << 16;  // nodes
    std::vector<std::size_t> firsts;
    std::uint64_t nodes = kBlock;
    for (std::size_t word = 0; word < words.starts.size(); ++word) {
        if (nodes >= kBlock) {
            firsts.push_back(word);
            nodes = 0;
        }
        nodes += words.end(word) - words.starts[word] - shared[word];
    }
    std::vector<Trie> result(firsts.size());
    firsts.push_back(words.starts.size());
    std::vector<ArcWriter> writers(workers.threads, ArcWriter(matches, format));
    workers.run(result.size(), [&](std::size_t thread, std::size_t job) {
        for (std::size_t word = firsts[job]; word < firsts[job + 1]; ++word) {
            writers[thread].add(words.starts[word], words.end(word),
                                word > firsts[job] ? shared[word] : 0, words.counts[word],
                                result[job]);
        }
        result[job].arcs.shrink_to_fit();
        result[job].strings.shrink_to_fit();
    });
    return result;
}

std::vector<Trie> tries_of_seeds(const Seeds& seeds, const std::vector<Candidate>& chosen,
                                 const Suffixes& suffixes, const Matches& matches,
                                 const Workers& workers) {
    constexpr std::size_t kBlock = 1 << 12;
    std::vector<Trie> result((chosen.size() + kBlock - 1) / kBlock);
    std::vector<ArcWriter> writers(workers.threads, ArcWriter(matches, seeds.format));
    workers.run(result.size(), [&](std::size_t thread, std::size_t job) {
        const std::size_t first = job * kBlock, last = std::min(chosen.size(), first + kBlock);
        for (std::size_t i = first; i < last; ++i) {
            const std::uint32_t seed = matches.in_order[i];
            std::uint32_t shared = 0;
            if (i > first) {
                const Piece& here = seeds.pieces[seed];
                const Piece& before = seeds.pieces[matches.in_order[i - 1]];
                const std::uint32_t most = std::min(here.length, before.length);
                while (shared < most &&
                       seeds.spelled[here.place + shared] == seeds.spelled[before.place + shared]) {
                    ++shared;
                }
            }
            const std::uint32_t place = suffixes.places[chosen[seed - 1].first];
            writers[thread].add(place, place + matches.lengths[seed], shared, seed, result[job]);
        }
        result[job].arcs.shrink_to_fit();
    });
    return result;
}

}  // namespace

Seeds make_seeds(CountedWords words, const TrainingOptions& options, const Workers& workers) {
    const auto longest =
        static_cast<std::uint32_t>(std::max<std::size_t>(options.rules.longest, 1));
    const WordEnds ends = sort_ends(words, workers);
    std::optional<DistinctSuffixes> distinct(std::in_place, words, ends);
    // One more character shows which of the longest substrings have different continuations.
    Suffixes suffixes = sort_suffixes(words, *distinct, longest + 1, workers);
    std::vector<Candidate> chosen = characters(words, suffixes);
    add_substrings(words, *distinct, suffixes, options, workers, chosen);
    distinct.reset();

    Seeds seeds;
    seeds.format = {static_cast<unsigned>(std::bit_width(longest - 1))};
    if (chosen.size() + 1 > seeds.format.most_pieces()) {
        throw std::length_error("too many seeds for this maximum piece length: use fewer seeds");
    }
    double total = 0;
    std::size_t characters_of_seeds = 0;
    for (const Candidate& candidate : chosen) {
        total += static_cast<double>(candidate.covered);
        characters_of_seeds += candidate.length;
    }
    seeds.pieces.reserve(chosen.size() + 1);
    seeds.spelled.reserve(characters_of_seeds);
    seeds.pieces.push_back({0, 1, 0.0});
    InterruptionPoints<4096> points;
    for (const Candidate& candidate : chosen) {
        points.step();
        const auto spelling = words.text.begin() + suffixes.places[candidate.first];
        seeds.pieces.push_back({static_cast<std::uint32_t>(seeds.spelled.size()), candidate.length,
                                std::log(static_cast<double>(candidate.covered) / total)});
        seeds.spelled.insert(seeds.spelled.end(), spelling, spelling + candidate.length);
    }
    const std::vector<std::uint32_t> shared = shared_prefixes(words);
    const Matches matches = match(words, ends, suffixes, chosen, workers);
    seeds.spellings = tries_of_seeds(seeds, chosen, suffixes, matches, workers);
    suffixes = {};
    chosen = {};
    seeds.words = tries_of_words(words, matches, shared, seeds.format, workers);
    return seeds;
}

}  // namespace toksmith::unigram

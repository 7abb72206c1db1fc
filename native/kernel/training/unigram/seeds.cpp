// Finds the initial pieces: all characters and the best substrings.
#include <algorithm>
#include <atomic>
#include <bit>
#include <cmath>
#include <functional>
#include <mutex>
#include <stdexcept>

#include "base/stop.hpp"
#include "training/ordered_bytes.hpp"
#include "training/unigram/suffix_runs.hpp"
#include "training/unigram/suffixes.hpp"
#include "training/unigram/tries.hpp"

namespace toksmith::unigram {
namespace {

struct Candidate {
    std::uint64_t covered;  // the number of characters of the text in its occurrences
    std::uint64_t first;    // the number of the first suffix that starts with it
    std::uint64_t place;    // of its characters in the text, or of their bytes
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
    // Adds a candidate with a copy of its characters, since its string is temporary. Not
    // thread-safe. All candidates are added in the same way.
    void add_copy(Candidate candidate, const std::uint32_t* string) {
        candidate.place = copies_.size();
        for (std::uint32_t i = 0; i < candidate.length; ++i) {
            bpe::write_ordered(string[i] - 1, copies_);
        }
        kept_.push_back(candidate);
        if (is_full()) trim();
    }
    // Returns the best candidates, in order.
    std::vector<Candidate> take() {
        trim();
        InterruptionPoints<4096> points;
        std::sort(kept_.begin(), kept_.end(), with_interruption(points, std::less<>()));
        return std::move(kept_);
    }
    // The bytes of a copy (see ordered_bytes.hpp).
    const std::uint8_t* copy(const Candidate& candidate) const {
        return copies_.data() + candidate.place;
    }

 private:
    void add(const std::vector<Candidate>& candidates) {
        const std::lock_guard lock(guard_);
        kept_.insert(kept_.end(), candidates.begin(), candidates.end());
        if (is_full()) trim();
    }

    bool is_full() const { return kept_.size() >= most_ + most_ / 2 + 4096; }

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
        if (!copies_.empty()) drop_copies();
    }

    // Removes the copies of candidates that are not kept.
    void drop_copies() {
        std::vector<std::uint8_t> copies;
        InterruptionPoints<4096> points;
        for (Candidate& candidate : kept_) {
            points.step();
            const std::uint8_t *const start = copy(candidate), *end = start;
            for (std::uint32_t i = 0; i < candidate.length; ++i) bpe::read_ordered(end);
            candidate.place = copies.size();
            copies.insert(copies.end(), start, end);
        }
        copies_ = std::move(copies);
    }

    std::size_t most_;
    std::atomic<std::uint64_t> least_ = 0;
    std::mutex guard_;
    std::vector<Candidate> kept_;
    std::vector<std::uint8_t> copies_;
};

// Whether a substring may be a piece. Builds it from single characters, since the rules need two
// valid halves: extends it to the left if spaces are at the start of words, otherwise to the right.
bool is_valid(const WordStore& words, const std::uint32_t* string, std::uint32_t length) {
    const bpe::PieceRules& rules = words.options().rules;
    if (length > rules.longest) return false;
    const auto traits = [&](std::uint32_t i) { return words.alphabet()[string[i] - 1]; };
    if (rules.space_as_suffix) {
        bpe::PieceTraits whole = traits(0);
        for (std::uint32_t i = 1; i < length; ++i) {
            if (!rules.allow(whole, traits(i))) return false;
            whole = bpe::joined(whole, traits(i));
        }
        return true;
    }
    bpe::PieceTraits whole = traits(length - 1);
    for (std::uint32_t i = length - 1; i-- > 0;) {
        if (!rules.allow(traits(i), whole)) return false;
        whole = bpe::joined(traits(i), whole);
    }
    return true;
}

// Whether a shared substring may be among the best candidates.
bool may_add(const WordStore& words, const Best& best, const Shared& found,
             const std::uint32_t* string) {
    return found.count >= 2 && best.may_add(found.count * found.length) &&
           is_valid(words, string, found.length);
}

// The pieces so far, whose scores are not yet divided by their total.
struct Chosen {
    Seeds seeds;
    std::vector<std::uint64_t> covered{0};

    void begin_piece(std::uint64_t characters) {
        covered.push_back(characters);
        seeds.pieces.push_back({static_cast<std::uint32_t>(seeds.spelled.size()), 0, 0.0});
    }
    void add_character(std::uint32_t character) {
        seeds.spelled.push_back(character);
        ++seeds.pieces.back().length;
    }
};

// Adds the characters of the words, in descending order of frequency.
void add_characters(const WordStore& words, Chosen& chosen) {
    const std::vector<std::uint64_t>& counts = words.character_counts();
    std::vector<Candidate> characters;
    for (std::size_t i = 0; i < counts.size(); ++i) {
        if (counts[i] > 0) characters.push_back({counts[i], i, 0, 1});
    }
    std::sort(characters.begin(), characters.end());
    for (const Candidate& character : characters) {
        chosen.begin_piece(character.covered);
        chosen.add_character(static_cast<std::uint32_t>(character.first) + 1);
    }
}

void add_substrings_in_memory(const WordStore& store, std::size_t size, const Workers& workers,
                              Chosen& chosen) {
    const CountedWords& words = store.in_memory();
    Best best(size);
    {
        const DistinctSuffixes distinct(words, sort_ends(words, workers));
        // One more character shows which of the longest substrings have different continuations.
        const Suffixes suffixes =
            sort_suffixes(words, distinct, store.options().rules.longest + 1, workers);
        std::vector<Best::Batch> batches(workers.threads, Best::Batch(best));
        workers.run(words.alphabet, [&](std::size_t thread, std::size_t bucket) {
            shared_substrings(words, distinct, suffixes, bucket, [&](const Shared& found) {
                const std::uint32_t place = suffixes.places[found.first];
                if (!may_add(store, best, found, words.text.data() + place)) return;
                batches[thread].add({found.count * found.length, found.first, place, found.length});
            });
        });
        for (Best::Batch& batch : batches) batch.flush();
    }
    for (const Candidate& candidate : best.take()) {
        chosen.begin_piece(candidate.covered);
        for (std::uint32_t i = 0; i < candidate.length; ++i) {
            chosen.add_character(words.text[candidate.place + i]);
        }
    }
}

void add_substrings_in_file(WordStore& store, std::size_t size, Chosen& chosen) {
    Best best(size);
    shared_in_runs(*store.file(), store.take_suffixes(), store.options().memory / 4,
                   [&](const Shared& found, const std::uint32_t* string) {
                       if (!may_add(store, best, found, string)) return;
                       best.add_copy({found.count * found.length, found.first, 0, found.length},
                                     string);
                   });
    for (const Candidate& candidate : best.take()) {
        chosen.begin_piece(candidate.covered);
        const std::uint8_t* p = best.copy(candidate);
        for (std::uint32_t i = 0; i < candidate.length; ++i) {
            chosen.add_character(bpe::read_ordered(p) + 1);
        }
    }
}

}  // namespace

Seeds find_seeds(WordStore& words, const TrainingOptions& options, const Workers& workers) {
    Chosen chosen;
    chosen.seeds.pieces.push_back({0, 1, 0.0});
    add_characters(words, chosen);
    if (words.in_file()) {
        add_substrings_in_file(words, options.seeds, chosen);
    } else {
        add_substrings_in_memory(words, options.seeds, workers, chosen);
    }
    double total = 0;
    for (const std::uint64_t covered : chosen.covered) total += static_cast<double>(covered);
    InterruptionPoints<4096> points;
    for (std::size_t piece = 1; piece < chosen.covered.size(); ++piece) {
        points.step();
        chosen.seeds.pieces[piece].score =
            std::log(static_cast<double>(chosen.covered[piece]) / total);
    }
    return std::move(chosen.seeds);
}

}  // namespace toksmith::unigram

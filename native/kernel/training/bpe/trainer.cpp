#include "training/bpe/trainer.hpp"

#include <algorithm>

#include "training/bpe/likely_phases.hpp"
#include "training/bpe/merge_criteria.hpp"
#include "training/bpe/phases.hpp"
#include "training/segments.hpp"
#include "vocab/byte_alphabet.hpp"

namespace toksmith::bpe {
namespace {

// The position of each byte in the byte alphabet, in the order of its characters.
std::vector<std::uint32_t> alphabet_places() {
    std::vector<std::uint32_t> places;
    for (const std::uint16_t character : kByteCharacters) {
        const auto before = std::ranges::count_if(
            kByteCharacters, [=](std::uint16_t other) { return other < character; });
        places.push_back(static_cast<std::uint32_t>(before));
    }
    return places;
}

template <typename Symbol>
Training train_most_frequent(const Counted<Symbol>& chunks, const Alphabet& alphabet,
                             const TrainingOptions& options, const Watch& watch) {
    const auto run = [&](auto criterion) {
        return MergeTrainer(chunks, alphabet.size, options.min_frequency, criterion,
                            options.sharing)
            .run(options.tokens, watch);
    };
    if (options.ties == Ties::kFirstSeen) {
        return run(MostFrequent<true>(alphabet, options.max_token_length));
    }
    return run(MostFrequent<false>(alphabet, options.max_token_length));
}

// The memory of training on whole chunks, in bytes for each of their symbols.
constexpr std::size_t kWholeBytes = 24;

template <typename MergeCriterion>
Training train_whole(ChunkStore& store, std::size_t alphabet, MergeCriterion& criterion,
                     std::size_t tokens, std::uint64_t min_frequency, const Sharing& sharing,
                     const Watch& watch) {
    ChunkStore::Chunks chunks = store.take_all();
    MergeTrainer trainer(chunks.counted(), alphabet, min_frequency, criterion, sharing);
    chunks = {};
    trainer.add_outside(store.tokens() - trainer.total());
    return trainer.run(tokens, watch);
}

// Trains on all chunks at once, if that takes no more than `memory` bytes, else in phases.
template <typename MergeCriterion>
Training train_store(ChunkStore& store, std::size_t alphabet, MergeCriterion criterion,
                     std::size_t tokens, std::uint64_t min_frequency, const Sharing& sharing,
                     std::size_t memory, const Watch& watch) {
    store.finish();
    if (store.symbols() * kWholeBytes <= memory) {
        return train_whole(store, alphabet, criterion, tokens, min_frequency, sharing, watch);
    }
    return PhaseTrainer(store, alphabet, min_frequency, criterion, sharing, memory)
        .run(tokens, watch);
}

}  // namespace

Training train(ChunkStore& store, const Alphabet& alphabet, const TrainingOptions& options,
               std::size_t memory, const Watch& watch) {
    const auto run = [&](auto criterion) {
        return train_store(store, alphabet.size, std::move(criterion), options.tokens,
                           options.min_frequency, options.sharing, memory, watch);
    };
    if (options.ties == Ties::kFirstSeen) {
        return run(MostFrequent<true>(alphabet, options.max_token_length));
    }
    return run(MostFrequent<false>(alphabet, options.max_token_length));
}

Training train_pieces(ChunkStore& store, const std::vector<PieceTraits>& alphabet,
                      const PieceRules& rules, std::size_t tokens, const Sharing& sharing,
                      std::size_t memory, const Watch& watch) {
    return train_store(store, alphabet.size(), MostFrequentPiece(alphabet, rules), tokens, 1,
                       sharing, memory, watch);
}

Training train(const CountedChunks& chunks, const TrainingOptions& options, const Watch& watch) {
    return train_most_frequent(chunks, {256, alphabet_places(), {}}, options, watch);
}

Training train(const CountedSymbols& chunks, const Alphabet& alphabet,
               const TrainingOptions& options, const Watch& watch) {
    return train_most_frequent(chunks, alphabet, options, watch);
}

Training train_likelihood(ChunkStore& store, std::size_t alphabet, std::size_t tokens,
                          std::uint64_t min_frequency, const Sharing& sharing, std::size_t memory,
                          const Watch& watch) {
    store.finish();
    if (store.symbols() * kWholeBytes > memory) {
        return train_likelihood_in_phases(store, alphabet, tokens, min_frequency, sharing, memory,
                                          watch);
    }
    MostLikely criterion;
    criterion.symbol_counts = store.singles();
    return train_whole(store, alphabet, criterion, tokens, min_frequency, sharing, watch);
}

Training train_pieces(const CountedSymbols& words, std::size_t cut,
                      const std::vector<PieceTraits>& alphabet, const PieceRules& rules,
                      std::size_t tokens, const Sharing& sharing, const Watch& watch) {
    const std::uint64_t whole = cut > 0 ? words.ends[cut - 1] : 0;
    const std::uint64_t others = words.ends.empty() ? 0 : words.ends.back() - whole;
    Segments segments;
    CountedSymbols counted = words;
    if (others > whole / 8) {  // for fewer words, counting segments does not pay
        segments = count_segments(words, cut, alphabet, rules, sharing.threads);
        counted = segments.counted();
    }
    MostFrequentPiece criterion(alphabet, rules);
    return MergeTrainer(counted, alphabet.size(), 1, criterion, sharing).run(tokens, watch);
}

}  // namespace toksmith::bpe

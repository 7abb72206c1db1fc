#include "train/counter.hpp"

#include <algorithm>
#include <atomic>
#include <utility>

#include "parallel/parallel.hpp"
#include "split/cut.hpp"

namespace toksmith {
namespace {

constexpr std::size_t kPiece = std::size_t{1} << 20;

}  // namespace

void ChunkCounter::add(const std::vector<Text>& documents, std::size_t threads) {
    struct Piece {
        Text text;
        std::uint64_t first;
    };
    std::vector<Piece> pieces;
    for (Text rest : documents) {
        while (rest.size() > kPiece + kPiece / 2) {
            const std::uint8_t* cut = safe_cut(family_, rest.begin + kPiece, rest.end);
            pieces.push_back({{rest.begin, cut}, position_});
            position_ += static_cast<std::uint64_t>(cut - rest.begin);
            rest.begin = cut;
        }
        pieces.push_back({rest, position_});
        position_ += rest.size();
    }
    const std::size_t used = std::max<std::size_t>(1, std::min(threads, pieces.size()));
    if (tables_.size() < used) tables_.resize(used);
    const auto tally = loops_.tally[static_cast<std::size_t>(family_)];
    std::atomic<std::size_t> next{0};
    run_on_threads(used, [&](std::size_t thread) {
        for (std::size_t i = next++; i < pieces.size(); i = next++) {
            tally(pieces[i].text, tables_[thread], pieces[i].first);
        }
    });
}

void ChunkCounter::add_chunks(const std::vector<Text>& chunks,
                              const std::vector<std::uint64_t>& counts) {
    if (tables_.empty()) tables_.resize(1);
    for (std::size_t i = 0; i < chunks.size(); ++i) {
        if (chunks[i].size() == 0) continue;
        tables_[0].add(chunks[i].begin, chunks[i].size(), counts[i], position_);
        position_ += chunks[i].size();
    }
}

ChunkTable ChunkCounter::finish() { return ChunkTable::merged(std::exchange(tables_, {})); }

}  // namespace toksmith

#include "counting/counted_pieces.hpp"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/stop.hpp"

namespace toksmith {
namespace {

constexpr std::size_t kShare = 1 << 12;       // texts that a thread takes at once
constexpr std::size_t kBatch = 64;            // pieces that are counted at once
constexpr std::size_t kBatchBytes = 1 << 16;  // or this many bytes
constexpr unsigned kBytesOfShareBits = 40;    // a share has less than 1 TiB of pieces

// Counts the texts of one share. Positions are bytes of all pieces of the share, after the shares
// before it.
class ShareCounter {
 public:
    ShareCounter(ChunkTable& table, std::size_t share)
        : table_(table), position_(std::uint64_t{share} << kBytesOfShareBits) {}

    void add(const std::uint8_t* piece, std::size_t size, std::uint64_t count) {
        if (size == 0) return;
        batch_.text.insert(batch_.text.end(), piece, piece + size);
        batch_.ends.push_back(batch_.text.size());
        batch_.counts.push_back(count);
        if (batch_.ends.size() == kBatch || batch_.text.size() > kBatchBytes) flush();
    }
    void flush() {
        const std::size_t size = batch_.text.size();
        if (size > 0) batch_.count(table_, position_);
        position_ += size;
    }

 private:
    ChunkTable& table_;
    std::uint64_t position_;
    CountingBatch batch_;
};

// Calls visit(text, size, count) for each text of a share.
template <typename Visit>
void for_each_text(const CountedTexts& texts, std::size_t share, Visit visit) {
    const std::size_t first = share * kShare, last = std::min(first + kShare, texts.ends.size());
    for (std::size_t i = first; i < last; ++i) {
        const std::uint64_t start = i == 0 ? 0 : texts.ends[i - 1];
        visit(texts.bytes + start, static_cast<std::size_t>(texts.ends[i] - start),
              texts.counts[i]);
    }
}

std::size_t shares_of(const CountedTexts& texts) {
    return (texts.ends.size() + kShare - 1) / kShare;
}

}  // namespace

DistinctChunks count_pieces(const CountedTexts& pieces, const CountedTexts& chunks,
                            const StageRunner& stages, std::size_t threads) {
    const std::size_t done = shares_of(pieces), shares = done + shares_of(chunks);
    const std::size_t used = std::clamp<std::size_t>(threads, 1, std::max<std::size_t>(shares, 1));
    std::vector<ChunkTable> tables(used);
    std::atomic<std::size_t> next{0};
    run_on_threads(used, [&](std::size_t thread) {
        StageRunner::Buffers buffers;
        for (std::size_t share = next++; share < shares; share = next++) {
            ShareCounter counter(tables[thread], share);
            if (share < done) {
                for_each_text(pieces, share, [&](auto* text, std::size_t size, std::uint64_t n) {
                    counter.add(text, size, n);
                });
            } else {
                for_each_text(chunks, share - done,
                              [&](auto* text, std::size_t size, std::uint64_t n) {
                                  interruption_point();
                                  stages.for_each_piece(text, size, buffers,
                                                        [&](auto* piece, std::size_t length) {
                                                            counter.add(piece, length, n);
                                                        });
                              });
            }
            counter.flush();
            interruption_point();
        }
    });
    return {std::move(tables), used};
}

}  // namespace toksmith

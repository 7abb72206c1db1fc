#include "models/bpe/perfect_pair_hash.hpp"

#include <algorithm>
#include <bit>
#include <vector>

namespace toksmith::bpe {
namespace {

std::uint32_t hash_of(std::uint32_t left, std::uint32_t right) {
    return left * PerfectPairHash::kLeft + right * PerfectPairHash::kRight;
}

// A slot whose result is 0.
std::uint64_t key_of(std::uint32_t left, std::uint32_t right) {
    return (std::uint64_t{left} << PerfectPairHash::kBits | right) << PerfectPairHash::kBits;
}

// The maximum size of a bucket. Real vocabularies stay far below it; with a crafted file, the
// search for displacements would be slow.
constexpr std::uint32_t kMostTogether = 64;

int bits_for(std::size_t count) { return static_cast<int>(std::bit_width(count)); }

// Removes duplicate pairs, keeping the first of each.
std::span<PerfectPairHash::Pair> unrepeated(std::span<PerfectPairHash::Pair> pairs) {
    std::size_t count = 0;
    for (const PerfectPairHash::Pair& pair : pairs) {
        const auto is_same = [&](const PerfectPairHash::Pair& other) {
            return other.left == pair.left && other.right == pair.right;
        };
        if (std::ranges::none_of(pairs.first(count), is_same)) pairs[count++] = pair;
    }
    return pairs.first(count);
}

}  // namespace

std::optional<PerfectPairHash> PerfectPairHash::make(std::span<const Pair> pairs) {
    PerfectPairHash table(pairs.size());
    if (!table.place(pairs)) return {};
    return table;
}

// At most four fifths of the slots are used. A bucket has one or two pairs on average.
PerfectPairHash::PerfectPairHash(std::size_t pairs)
    : slot_bits_(bits_for(pairs + pairs / 4 + 16)),
      bucket_bits_(bits_for(pairs / 2 + 16)),
      slots_(std::size_t{1} << slot_bits_),
      buckets_(std::size_t{1} << bucket_bits_) {}

bool PerfectPairHash::place(std::span<const Pair> pairs) {
    const std::uint32_t buckets = 1u << bucket_bits_;
    // The index of the first pair of each bucket, with the pairs sorted by bucket.
    std::vector<std::uint32_t> starts(buckets + 2);
    for (const Pair& pair : pairs) ++starts[bucket_of(hash_of(pair.left, pair.right)) + 2];
    std::uint32_t most = 0;
    for (std::uint32_t i = 2; i < starts.size(); ++i) {
        most = std::max(most, starts[i]);
        starts[i] += starts[i - 1];
    }
    if (most > kMostTogether) return false;
    std::vector<Pair> sorted(pairs.size());
    for (const Pair& pair : pairs)
        sorted[starts[bucket_of(hash_of(pair.left, pair.right)) + 1]++] = pair;
    std::vector<bool> taken(std::size_t{1} << slot_bits_);
    for (std::uint32_t size = most; size > 0; --size) {
        for (std::uint32_t i = 0; i < buckets; ++i) {
            const std::uint32_t start = starts[i];
            if (starts[i + 1] - start != size) continue;
            const auto together = unrepeated(std::span(sorted).subspan(start, size));
            const auto move = free_move(together, taken);
            if (!move) return false;
            std::uint32_t bits = 0;
            for (const auto& [left, right, number] : together) {
                const std::uint32_t hash = hash_of(left, right);
                slots_.data()[slot_of(hash, right, *move)] = key_of(left, right) | number;
                bits |= 1u << (hash >> kBitPlace & kBitMask);
            }
            buckets_.data()[i] = *move | bits << kMoveBits;
        }
    }
    return true;
}

// The first displacement that moves all pairs to free slots; marks these slots as taken.
std::optional<std::uint32_t> PerfectPairHash::free_move(std::span<const Pair> pairs,
                                                        std::vector<bool>& taken) const {
    for (std::uint32_t move = 0; move <= kMoveMask; ++move) {
        const auto slot = [&](const Pair& pair) {
            return slot_of(hash_of(pair.left, pair.right), pair.right, move);
        };
        std::size_t met = 0;
        for (; met < pairs.size() && !taken[slot(pairs[met])]; ++met)
            taken[slot(pairs[met])] = true;
        if (met == pairs.size()) return move;
        for (const Pair& pair : pairs.first(met)) taken[slot(pair)] = false;
    }
    return {};
}

std::uint32_t PerfectPairHash::find(std::uint32_t left, std::uint32_t right) const {
    const std::uint32_t hash = hash_of(left, right);
    const std::uint32_t bucket = buckets_.data()[bucket_of(hash)];
    if ((bucket >> kMoveBits >> (hash >> kBitPlace & kBitMask) & 1) == 0) return kNone;
    const std::uint64_t slot = slots_.data()[slot_of(hash, right, bucket & kMoveMask)];
    const std::uint64_t number = slot - key_of(left, right);
    return number < std::uint64_t{1} << kBits ? static_cast<std::uint32_t>(number) : kNone;
}

}  // namespace toksmith::bpe

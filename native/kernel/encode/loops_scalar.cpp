#include "encode/loops.hpp"
#include "isa/pairs.hpp"
#include "unicode/classes.hpp"

namespace toksmith::scalar {
namespace {

#include "split/scanner.inc"

struct Isa {
    static constexpr auto place_of_pair = pairs::place_of;
    template <int kBit>
    static std::uint64_t bit(const std::uint8_t* p) {
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 8; ++i) {
            std::uint64_t eight;
            std::memcpy(&eight, p + 8 * i, sizeof eight);
            const std::uint64_t ones = eight >> kBit & 0x0101010101010101;
            result |= (ones * 0x0102040810204080 >> 56) << 8 * i;  // side by side
        }
        return result;
    }
};

// Without vectors, masks take longer than reading byte by byte.
template <Family kFamily>
inline std::size_t next_ends(const Byte* p, const Byte* end, const Byte** ends,
                             const bpe::Joins* = nullptr) {
    ends[0] = chunk_end<kFamily>(p, end);
    return 1;
}

// Without vectors, chunks are merged one by one.
struct MergingTogether {
    MergingTogether(const Model&, Worker&) {}
    static bool defer(const ChunkCache::Key&, const Byte*, std::size_t) { return false; }
    static bool full() { return false; }
    static std::size_t reach(std::size_t) { return 0; }
    template <typename Sink>
    static void put_in(Sink&, std::size_t) {}
};

#include "encode/loops.inc"

}  // namespace
}  // namespace toksmith::scalar

const toksmith::Loops& toksmith::loops_scalar() { return scalar::table(); }

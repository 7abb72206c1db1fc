#include "encode/kernels.hpp"
#include "simd/marked.hpp"
#include "simd/pairs.hpp"
#include "split/unicode.hpp"

namespace toksmith::scalar {
namespace {

#include "split/multibyte.inc"
#include "split/scanner.inc"

struct Isa {
    using Words = void;  // keys are computed one by one
    static constexpr auto place_of_pair = pairs::place_of;
    static constexpr auto bitmask_to_pointers = marked::bitmask_to_pointers;
    template <typename Unit>
    static std::uint8_t* write_utf8(const Unit* p, std::uint8_t* to, bool& surrogates) {
        return to_utf8::write(p, to, surrogates);
    }
    template <int kBit>
    static std::uint64_t bit(const std::uint8_t* p) {
        std::uint64_t result = 0;
        for (unsigned i = 0; i < 8; ++i) {
            std::uint64_t eight;
            std::memcpy(&eight, p + 8 * i, sizeof eight);
            const std::uint64_t ones = eight >> kBit & 0x0101010101010101;
            result |= (ones * 0x0102040810204080 >> 56) << 8 * i;  // gathers the eight bits
        }
        return result;
    }
};

// Without vectors, computing masks is slower than reading byte by byte. Finds several chunks per
// call, to keep the loop over them tight.
template <Family kFamily>
inline Ends next_ends(const Byte* p, const Byte* end, const Byte** ends,
                      const AdjacencyFilter* = nullptr) {
    constexpr std::size_t kSome = 32;
    static_assert(kSome <= marked::kMost);
    return scan_ends<kFamily>(p, end, ends, kSome);
}

// Without vectors, misses are encoded one by one.
struct MergeLanes;
struct ViterbiLanes;
template <typename>
class MissBatcher {
 public:
    MissBatcher(const Model&, Worker& worker) : misses_(worker.misses) {}
    static bool defer(const ChunkKey&, const Byte*, std::size_t, std::uint32_t = 0) {
        return false;
    }
    static void end_part(std::size_t) {}
    static bool empty() { return true; }
    static bool full() { return false; }
    static std::size_t distance_to_first(std::size_t) { return 0; }
    static std::uint32_t most(std::size_t) { return 0; }
    template <typename Encode>
    PendingMisses& resolve(const Encode&) {
        return misses_;
    }

 private:
    PendingMisses& misses_;
};

#include "encode/chunk_loop.inc"

}  // namespace
}  // namespace toksmith::scalar

const toksmith::EncodeKernels& toksmith::kernels_scalar() { return scalar::table(); }

#include "split/unicode.hpp"

#include <algorithm>
#include <cstddef>

namespace toksmith::unicode {
namespace {

ClassTable unpacked() {
    constexpr std::size_t kBlock = ClassTable::kBlock;
    constexpr std::uint16_t kNone = 0xFFFF;
    ClassTable table{};
    std::array<std::uint16_t, 8> uniform;  // by class: the block of this class alone
    uniform.fill(kNone);
    std::uint16_t blocks = 0;
    std::size_t code = 0;
    for (const char* p = kRuns; *p != 0;) {
        const auto kind = static_cast<std::uint8_t>(*p++ - 'a');
        std::size_t length = 0;
        for (; *p >= '0' && *p <= '9'; ++p)
            length = 10 * length + static_cast<std::size_t>(*p - '0');
        const std::size_t end = code + std::max<std::size_t>(length, 1);
        while (code < end) {
            const std::size_t first = code % kBlock, size = std::min(end - code, kBlock - first);
            std::uint16_t& block = table.block_of[code / kBlock];
            code += size;
            if (size == kBlock && uniform[kind] != kNone) {
                block = uniform[kind];
                continue;
            }
            if (first == 0) block = blocks++;
            if (size == kBlock) uniform[kind] = block;
            std::fill_n(&table.class_of[block * kBlock + first], size, static_cast<Class>(kind));
        }
    }
    return table;
}

}  // namespace

const ClassTable kClassTable = unpacked();

}  // namespace toksmith::unicode

#include "simd/isa.hpp"

#include <array>
#include <stdexcept>

namespace toksmith::isa {
namespace {

constexpr std::array<std::string_view, kLevels> kNames = {"scalar", "avx2", "avx512"};

}  // namespace

std::string_view name(Level level) { return kNames[static_cast<std::size_t>(level)]; }

Level best() {
#if TOKSMITH_X86
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2")) return Level::kScalar;
    const bool wide = __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
                      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl") &&
                      __builtin_cpu_supports("avx512vbmi") && __builtin_cpu_supports("avx512vbmi2");
    return wide ? Level::kAvx512 : Level::kAvx2;
#else
    return Level::kScalar;
#endif
}

Level choose(std::string_view wanted) {
    if (wanted.empty()) return best();
    for (int i = 0; i < kLevels; ++i) {
        if (kNames[static_cast<std::size_t>(i)] != wanted) continue;
        const auto level = static_cast<Level>(i);
        if (level > best()) {
            throw std::invalid_argument(
                "instruction set \"" + std::string(wanted) +
                "\" is not available: the best that this machine has is \"" +
                std::string(name(best())) + "\"");
        }
        return level;
    }
    throw std::invalid_argument("unknown instruction set \"" + std::string(wanted) +
                                "\": use scalar, avx2 or avx512");
}

}  // namespace toksmith::isa

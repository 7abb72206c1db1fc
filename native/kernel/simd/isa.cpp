#include "simd/isa.hpp"

#include <array>
#include <stdexcept>

namespace toksmith::isa {
namespace {

constexpr std::array<std::string_view, kLevels> kNames = {"scalar", "avx2", "avx512", "neon"};

}  // namespace

std::string_view name(Level level) { return kNames[static_cast<std::size_t>(level)]; }

bool is_available(Level level) {
    switch (level) {
        case Level::kScalar:
            return true;
#if TOKSMITH_X86
        case Level::kAvx2:
            __builtin_cpu_init();
            return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi2");
        case Level::kAvx512:
            return is_available(Level::kAvx2) && __builtin_cpu_supports("avx512f") &&
                   __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512vbmi") &&
                   __builtin_cpu_supports("avx512vbmi2");
#endif
        default:
            return level == Level::kNeon && TOKSMITH_ARM;
    }
}

Level best() {
    int level = kLevels - 1;
    while (!is_available(static_cast<Level>(level))) --level;
    return static_cast<Level>(level);
}

Level choose(std::string_view wanted) {
    if (wanted.empty()) return best();
    bool known = false;
    std::string available;
    for (int i = 0; i < kLevels; ++i) {
        const auto level = static_cast<Level>(i);
        if (is_available(level)) {
            if (name(level) == wanted) return level;
            available += (available.empty() ? "" : ", ") + std::string(name(level));
        }
        known |= name(level) == wanted;
    }
    const std::string quoted = '"' + std::string(wanted) + '"';
    throw std::invalid_argument(
        (known ? "instruction set " + quoted + " is not available on this machine"
               : "unknown instruction set " + quoted) +
        ": use one of " + available);
}

}  // namespace toksmith::isa

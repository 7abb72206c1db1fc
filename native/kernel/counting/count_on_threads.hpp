// Counts a text in blocks on several threads, with tables that are spilled when they are full.
#pragma once

#include <atomic>
#include <cstddef>

#include "base/parallel.hpp"
#include "base/stop.hpp"

namespace toksmith {

// A document is cut into blocks of about this many bytes.
inline constexpr std::size_t kBlockBytes = std::size_t{1} << 20;

// Calls count(thread, i) for each of `blocks` blocks, in no fixed order. If it returns true, the
// tables of the thread are full: then all threads end after their current block, and spill() is
// called before they go on.
template <typename Count, typename Spill>
void count_on_threads(std::size_t blocks, std::size_t threads, const Count& count,
                      const Spill& spill) {
    std::atomic<std::size_t> next{0};
    while (next < blocks) {
        std::atomic<bool> full{false};
        run_on_threads(threads, [&](std::size_t thread) {
            while (!full) {
                const std::size_t i = next++;
                if (i >= blocks) return;
                if (count(thread, i)) full = true;
                interruption_point();
            }
        });
        if (full) spill();
    }
}

}  // namespace toksmith

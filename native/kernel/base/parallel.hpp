// Running one job on several threads. Threads live for one call only, so that forking stays safe.
#pragma once

#include <cstddef>
#include <functional>

namespace toksmith {

// Calls work(i) on `threads` threads, i from 0; the calling thread is one of them. If one throws,
// the others end at their next interruption point, and the exception is thrown here. So is what the
// caller's Stop throws.
void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& work);

// Calls work(i) for each i below `count`, each on one of so many threads, with an interruption
// point after each.
void for_each_on_threads(std::size_t threads, std::size_t count,
                         const std::function<void(std::size_t)>& work);

}  // namespace toksmith

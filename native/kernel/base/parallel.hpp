// Runs one job on several threads. Threads exist during the call only, so forking stays safe.
#pragma once

#include <cstddef>
#include <functional>

namespace toksmith {

// Calls work(i) for each i below `threads`, each on its own thread; the calling thread runs
// one. If one call throws, the others end at their next interruption point, and the exception is
// rethrown here. Exceptions of the caller's Stop are rethrown, too.
void run_on_threads(std::size_t threads, const std::function<void(std::size_t)>& work);

// Calls work(i) for each i below `count` on `threads` threads, with an interruption point after
// each call.
void for_each_on_threads(std::size_t threads, std::size_t count,
                         const std::function<void(std::size_t)>& work);

}  // namespace toksmith

// Ids as Python's ints and lists. An int costs more than the id's place in a list, and what is
// made for one has to be freed for one; so there is one int for each id, shared by all lists.
#pragma once

#include "buffers.hpp"

namespace toksmith::bindings {

// The ids as a list, built in one pass.
nb::list to_list(const Id* ids, std::size_t count);

}  // namespace toksmith::bindings

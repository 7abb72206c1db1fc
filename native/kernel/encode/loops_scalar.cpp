#include "encode/loops.hpp"
#include "unicode/classes.hpp"

#include "isa/scalar.hpp"

namespace toksmith::scalar {
namespace {

using Isa = Scalar;
#include "split/scanner.inc"

#include "encode/loops.inc"

}  // namespace
}  // namespace toksmith::scalar

const toksmith::Loops& toksmith::loops_scalar() { return scalar::table(); }

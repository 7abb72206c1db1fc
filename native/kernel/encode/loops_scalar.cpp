#include "encode/loops.hpp"
#include "isa/scalar.hpp"
#include "unicode/classes.hpp"

namespace toksmith::scalar {
namespace {

using Isa = Scalar;
#include "encode/loops.inc"

}  // namespace
}  // namespace toksmith::scalar

const toksmith::Loops& toksmith::loops_scalar() { return scalar::table(); }

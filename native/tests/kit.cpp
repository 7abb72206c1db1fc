// Precompiles kit.hpp for the tests and the fuzz targets.
#include "kit.hpp"

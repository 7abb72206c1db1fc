#include "buffers.hpp"

NB_MODULE(_kernel, module) {
    module.doc() = "The compiled hot loops; only toksmith.engine imports this module.";
    toksmith::bindings::bind_encode(module);
    toksmith::bindings::bind_train(module);
}

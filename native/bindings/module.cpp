#include <stdexcept>

#include "buffers.hpp"
#include "gil.hpp"

NB_MODULE(_kernel, module) {
    // PyGILState_Ensure(), which native threads use, always selects the main interpreter.
    if (PyInterpreterState_Get() != PyInterpreterState_Main()) {
        throw std::runtime_error(
            "toksmith runs in Python's main interpreter only, not in a sub-interpreter: use "
            "threads or processes");
    }
    module.doc() = "The compiled kernel; only toksmith's engines import this module.";
    // At exit, Python does not free objects in module globals; nanobind would report these as
    // leaks.
    nanobind::set_leak_warnings(false);
    toksmith::bindings::bind_text_column(module);
    toksmith::bindings::bind_arrow_lists(module);
    toksmith::bindings::bind_models(module);
    toksmith::bindings::bind_fused(module);
    toksmith::bindings::bind_split(module);
    toksmith::bindings::bind_added(module);
    toksmith::bindings::bind_encode(module);
    toksmith::bindings::bind_rows(module);
    toksmith::bindings::bind_vocab(module);
    toksmith::bindings::bind_decode(module);
    toksmith::bindings::bind_lists(module);
    toksmith::bindings::bind_segmentations(module);
    toksmith::bindings::bind_counting(module);
    toksmith::bindings::bind_utf8(module);
    toksmith::bindings::bind_json_lines(module);
    toksmith::bindings::bind_words(module);
    toksmith::bindings::bind_train(module);
    toksmith::bindings::bind_unigram_training(module);
    toksmith::bindings::bind_thread_exit();
}

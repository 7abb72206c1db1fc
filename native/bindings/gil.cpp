#include "gil.hpp"

#include <chrono>
#include <thread>

namespace toksmith::bindings {
namespace {

namespace nb = nanobind;

bool is_finalizing() {
#if PY_VERSION_HEX >= 0x030D0000
    return Py_IsFinalizing();
#else
    return _Py_IsFinalizing();
#endif
}

// A thread that waits for the GIL when the interpreter shuts down never gets it: before Python
// 3.14, pthread_exit() unwinds its stack, which no destructor and no catch clause survives. So it
// sleeps until the process ends, as Python 3.14 lets it do.
[[noreturn]] void sleep_for_good() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

template <typename Take>
auto take_or_sleep(const Take& take) noexcept {
    try {
        return take();
    } catch (...) {
        sleep_for_good();
    }
}

// Python runs signal handlers on its main thread alone: other threads are not polled again.
bool poll() {
    const WithGil gil;
    const nb::module_ threading = nb::module_::import_("threading");
    const auto main = threading.attr("main_thread")().attr("ident");
    if (nb::cast<unsigned long>(main) != PyThread_get_thread_ident()) return false;
    check_signals_with_gil();
    return true;
}

}  // namespace

WithoutGil::WithoutGil() : stop_(poll), scope_(stop_), state_(PyEval_SaveThread()) {}

WithoutGil::~WithoutGil() {
    take_or_sleep([this] {
        PyEval_RestoreThread(state_);
        return true;
    });
}

bool may_call_python() { return PyGILState_Check() || !is_finalizing(); }

WithGil::WithGil() {
    if (!may_call_python()) throw ShuttingDown();
    state_ = take_or_sleep(PyGILState_Ensure);
}

}  // namespace toksmith::bindings

// Giving the GIL away during long work, and taking it back, also while the interpreter shuts down.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>

#include "base/stop.hpp"

namespace toksmith::bindings {

// For the length of a native call: other Python threads run meanwhile, and Ctrl-C ends the call
// with KeyboardInterrupt at the next interruption point.
class WithoutGil {
 public:
    WithoutGil();
    ~WithoutGil();
    WithoutGil(const WithoutGil&) = delete;
    WithoutGil& operator=(const WithoutGil&) = delete;

 private:
    Stop stop_;
    Stop::Scope scope_;
    PyThreadState* state_;
};

// A native thread cannot call Python any more.
struct ShuttingDown : std::runtime_error {
    ShuttingDown() : std::runtime_error("the Python interpreter is shutting down") {}
};

// For a call back into Python, on any thread.
class WithGil {
 public:
    // Throws ShuttingDown.
    WithGil();
    ~WithGil() { PyGILState_Release(state_); }
    WithGil(const WithGil&) = delete;
    WithGil& operator=(const WithGil&) = delete;

 private:
    PyGILState_STATE state_;
};

// Whether this thread may still call Python.
bool may_call_python();

// Sleeps until the process ends.
[[noreturn]] void sleep_for_good();

// Returns what call() does, a function of Python's C API that may wait for the GIL.
//
// A thread that waits for it when the interpreter shuts down never gets it: before Python 3.14,
// pthread_exit() unwinds its stack, which neither destructors that need the GIL nor nanobind's
// catch clauses survive. So it sleeps, as Python 3.14 lets it do. Nothing inside `call` may have a
// destructor.
template <typename Call>
auto or_sleep(const Call& call) noexcept {
    try {
        return call();
    } catch (...) {
        sleep_for_good();
    }
}

// The new reference that call() returns, with the GIL; throws what it raises. `call`: as above.
template <typename Call>
nanobind::object new_object(const Call& call) {
    PyObject* const result = or_sleep(call);
    if (!result) throw nanobind::python_error();
    return nanobind::steal(result);
}

// Calls a Python object, with the GIL; throws what it raises.
template <typename... Arguments>
nanobind::object call_python(nanobind::handle callable, const Arguments&... arguments) {
    return new_object(
        [&] { return PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr); });
}

// Runs signal handlers, with the GIL; for loops that hold it for long. Throws what they raise.
inline void check_signals_with_gil() {
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace toksmith::bindings

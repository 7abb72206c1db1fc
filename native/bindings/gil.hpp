// Releases the GIL during long work and acquires it again, safely even at interpreter shutdown.
#pragma once

#include <nanobind/nanobind.h>

#include <stdexcept>

#include "base/stop.hpp"

namespace toksmith::bindings {

// Releases the GIL for a native call, so that other Python threads run. Ctrl-C ends the call with
// KeyboardInterrupt at its next interruption point.
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

// Thrown if a native thread cannot call Python any more.
struct ShuttingDown : std::runtime_error {
    ShuttingDown() : std::runtime_error("the Python interpreter is shutting down") {}
};

// Acquires the GIL on any thread, for a call into Python.
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

// Lets threads that Python ends inside a call of the kernel sleep. Called after all other
// translators are registered, as nanobind tries the last one first.
void bind_thread_exit();

// Returns call(), which calls a function of Python's C API that may wait for the GIL.
//
// A thread that waits for the GIL during interpreter shutdown never gets it: before Python 3.14,
// pthread_exit() unwinds its stack, but destructors that need the GIL and nanobind's catch clauses
// do not survive that. So the thread sleeps instead, as in Python 3.14. Nothing inside `call` may
// have a destructor.
template <typename Call>
auto or_sleep(const Call& call) noexcept {
    try {
        return call();
    } catch (...) {
        sleep_for_good();
    }
}

// Returns the new reference that call() returns; throws its Python exception. Needs the GIL.
// `call`: see or_sleep().
template <typename Call>
nanobind::object new_object(const Call& call) {
    PyObject* const result = or_sleep(call);
    if (!result) throw nanobind::python_error();
    return nanobind::steal(result);
}

// Calls a Python object; throws its Python exception. Needs the GIL.
template <typename... Arguments>
nanobind::object call_python(nanobind::handle callable, const Arguments&... arguments) {
    return new_object(
        [&] { return PyObject_CallFunctionObjArgs(callable.ptr(), arguments.ptr()..., nullptr); });
}

// Runs signal handlers and throws their exceptions. Needs the GIL. For loops that hold it for long.
inline void check_signals_with_gil() {
    if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace toksmith::bindings

#include "gil.hpp"

#include <atomic>
#include <chrono>
#include <exception>
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

// Returns threading.main_thread, which is imported once and never freed. sys.modules has a lock
// without a GIL, and CPython 3.13 may hang at its end if many threads look there.
nb::handle main_thread() {
    static std::atomic<PyObject*> held{nullptr};
    PyObject* found = held.load(std::memory_order_acquire);
    if (!found) {
        const nb::object threading = new_object([] { return PyImport_ImportModule("threading"); });
        nb::object fresh = threading.attr("main_thread");
        if (held.compare_exchange_strong(found, fresh.ptr())) found = fresh.release().ptr();
    }
    return found;
}

// Stop calls this on the thread of the call. Returns false, so that Stop does not call it again, if
// that is not Python's main thread: only the main thread runs signal handlers.
bool poll() {
    const WithGil gil;
    const nb::object main = call_python(main_thread());
    const nb::object ident =
        new_object([&] { return PyObject_GetAttrString(main.ptr(), "ident"); });
    if (nb::cast<unsigned long>(ident) != PyThread_get_thread_ident()) return false;
    check_signals_with_gil();
    return true;
}

// A call of several parts looks between them too, as each part waits before its first poll.
PyThreadState* release_gil() {
    check_signals_with_gil();
    return PyEval_SaveThread();
}

// pthread_exit() is no exception, so `thrown` is null where nanobind has caught it. It may come
// from any call of Python's API that runs Python code, such as a finalizer: before Python 3.12,
// making an object may collect garbage. The thread sleeps before the pointer is used; see
// or_sleep().
void sleep_at_thread_exit(const std::exception_ptr& thrown, void*) {
    if (!thrown) sleep_for_good();
    std::rethrow_exception(thrown);
}

}  // namespace

WithoutGil::WithoutGil() : stop_(poll), scope_(stop_), state_(release_gil()) {}

WithoutGil::~WithoutGil() {
    or_sleep([this] { PyEval_RestoreThread(state_); });
}

void bind_thread_exit() { nb::register_exception_translator(&sleep_at_thread_exit); }

void sleep_for_good() {
    for (;;) std::this_thread::sleep_for(std::chrono::hours(1));
}

bool may_call_python() { return PyGILState_Check() || !is_finalizing(); }

WithGil::WithGil() {
    if (!may_call_python()) throw ShuttingDown();
    state_ = or_sleep(PyGILState_Ensure);
}

}  // namespace toksmith::bindings

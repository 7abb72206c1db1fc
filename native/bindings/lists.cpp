// Converts ids to Python's ints and lists. Creating and freeing an int costs more than its slot in
// a list, so all lists share one int per id.
#include "buffers.hpp"

#include <nanobind/stl/optional.h>

#include <atomic>
#include <optional>

#include "gil.hpp"

namespace toksmith::bindings {
namespace {

constexpr std::size_t kBetweenSignals = std::size_t{1} << 20;  // list items

// More than most vocabularies have. Larger ids get a new int each time.
constexpr std::size_t kShared = std::size_t{1} << 18;
std::atomic<PyObject*> shared[kShared];  // created when an id first occurs, and never freed

// Returns a new reference.
inline PyObject* number(Id id) {
    PyObject* made = id < kShared ? shared[id].load(std::memory_order_acquire) : nullptr;
    if (!made) [[unlikely]] {
        PyObject* const fresh = PyLong_FromUnsignedLong(id);
        if (!fresh) throw nb::python_error();
        if (id >= kShared) return fresh;
        if (shared[id].compare_exchange_strong(made, fresh)) {
            made = fresh;
        } else {
            Py_DECREF(fresh);  // without a GIL, another thread may be faster
        }
    }
    Py_INCREF(made);
    return made;
}

inline void set_item(PyObject* list, std::size_t place, PyObject* item) {
    PyList_SET_ITEM(list, static_cast<Py_ssize_t>(place), item);
}

inline PyObject* item_of(PyObject* list, std::size_t place) {
    return PyList_GET_ITEM(list, static_cast<Py_ssize_t>(place));
}

nb::list new_list(std::size_t size) {
    auto list = nb::steal<nb::list>(PyList_New(static_cast<Py_ssize_t>(size)));
    if (!list.is_valid()) throw nb::python_error();
    return list;
}

// Disables the garbage collector while lists are made: it would traverse all ids of all lists
// repeatedly, and find no cycles. Only signal handlers run meanwhile, since the GIL is held.
class WithoutCollector {
 public:
    WithoutCollector() : was_enabled_(PyGC_Disable()) {}
    WithoutCollector(const WithoutCollector&) = delete;
    WithoutCollector& operator=(const WithoutCollector&) = delete;
    ~WithoutCollector() {
        if (was_enabled_) PyGC_Enable();
    }

 private:
    int was_enabled_;
};

nb::list to_lists(Input<Id> ids, Input<std::int64_t> offsets) {
    const auto size = static_cast<std::int64_t>(ids.size());
    const std::size_t count = offsets.size() == 0 ? 0 : offsets.size() - 1;
    const WithoutCollector without_collector;
    nb::list lists = new_list(count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::int64_t start = offsets(i), end = offsets(i + 1);
        if (start < 0 || end < start || end > size) {
            throw nb::value_error("the offsets must lie inside the ids, in order");
        }
        const auto held = static_cast<std::size_t>(end - start);
        if (i % 4096 == 4095) check_signals_with_gil();
        set_item(lists.ptr(), i, to_list(ids.data() + start, held).release().ptr());
    }
    return lists;
}

// The ids of a list. Returns None unless all are ints of 32 bits; Python then reports the error.
std::optional<Array<Id>> to_array(nb::list list) {
    const nb::ft_object_guard guard(list);  // without a GIL, another thread may change the list
    const std::size_t size = list.size();
    IdArray ids;
    Id* place = ids.extend(size);
    for (std::size_t i = 0; i < size; ++i) {
        if (i % kBetweenSignals == 0 && i != 0) [[unlikely]] {
            check_signals_with_gil();
            if (nb::len(list) != size) return std::nullopt;  // a signal handler changed it
        }
        PyObject* item = item_of(list.ptr(), i);
        if (!PyLong_CheckExact(item)) return std::nullopt;
        int overflow = 0;
        const long long value = PyLong_AsLongLongAndOverflow(item, &overflow);
        if (overflow || value < 0 || value > 0xFFFFFFFFLL) return std::nullopt;
        place[i] = static_cast<Id>(value);
    }
    return to_numpy(std::move(ids));
}

}  // namespace

nb::list to_list(const Id* ids, std::size_t count) {
    nb::list list = new_list(count);
    // Prefetches the ints, since increasing a reference count writes to the int.
    constexpr std::size_t kAhead = 24;
    std::size_t i = 0;
    for (; i + kAhead < count; ++i) {
        if (i % kBetweenSignals == 0 && i != 0) [[unlikely]]
            check_signals_with_gil();
        const Id ahead = ids[i + kAhead];
        __builtin_prefetch(shared[ahead < kShared ? ahead : 0].load(std::memory_order_relaxed), 1);
        set_item(list.ptr(), i, number(ids[i]));
    }
    for (; i < count; ++i) set_item(list.ptr(), i, number(ids[i]));
    return list;
}

void bind_lists(nb::module_& module) {
    using namespace nb::literals;
    module.def("to_lists", &to_lists, "ids"_a, "offsets"_a,
               nb::sig("def to_lists(ids: NDArray[numpy.uint32], offsets: NDArray[numpy.int64]) -> "
                       "list[list[int]]"),
               "Return a list of the ids between each two adjacent offsets.");
    module.def("to_array", &to_array, "ids"_a,
               nb::sig("def to_array(ids: list[int]) -> NDArray[numpy.uint32] | None"),
               "Return the ids of a list as an array, or None unless all are ints of 32 bits.");
}

}  // namespace toksmith::bindings

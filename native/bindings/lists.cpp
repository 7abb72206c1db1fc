#include "lists.hpp"

#include <nanobind/stl/optional.h>

#include <optional>

#include "gil.hpp"

namespace toksmith::bindings {
namespace {

constexpr std::size_t kBetweenSignals = std::size_t{1} << 20;  // items of a list

// More than vocabularies have; larger ids get an int of their own each time.
constexpr std::size_t kShared = std::size_t{1} << 18;
PyObject* shared[kShared];  // made when an id is first seen, and kept

// A new reference.
inline PyObject* number(Id id) {
    PyObject* made = id < kShared ? shared[id] : nullptr;
    if (!made) [[unlikely]] {
        made = PyLong_FromUnsignedLong(id);
        if (!made) throw nb::python_error();
        if (id >= kShared) return made;
        shared[id] = made;
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

// While many lists are made, the collector of cycles would look at every id of every one, again and
// again, and find nothing. Only signal handlers run meanwhile: the GIL is held.
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

// The ids of a list; None unless all are whole numbers of 32 bits: Python then says what is wrong.
std::optional<Array<Id>> to_array(nb::list list) {
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
    // Counting a reference is writing to the int, wherever it lies.
    constexpr std::size_t kAhead = 24;
    std::size_t i = 0;
    for (; i + kAhead < count; ++i) {
        if (i % kBetweenSignals == 0 && i != 0) [[unlikely]]
            check_signals_with_gil();
        const Id ahead = ids[i + kAhead];
        __builtin_prefetch(shared[ahead < kShared ? ahead : 0], 1);
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
               "The ids between each two offsets as a list.");
    module.def("to_array", &to_array, "ids"_a,
               nb::sig("def to_array(ids: list[int]) -> NDArray[numpy.uint32] | None"),
               "The ids of a list; None unless all are ints of 32 bits.");
}

}  // namespace toksmith::bindings

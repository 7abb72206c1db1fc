// Exports ids and the bounds of documents as an Arrow array of lists, over the same memory.

#include <nanobind/nanobind.h>

#include <memory>
#include <tuple>
#include <utility>

#include "arrow.hpp"
#include "buffers.hpp"
#include "gil.hpp"

namespace toksmith::bindings {
namespace {

struct ListSchema {
    arrow::Schema item{};
    arrow::Schema* children[1] = {&item};
};

// The memory of an array and of its only child, which a consumer may keep longer than the array.
struct ListArray {
    nb::object ids, offsets;  // their owners
    arrow::Array item{};
    arrow::Array* children[1] = {&item};
    const void* list_buffers[2] = {nullptr, nullptr};  // validity, offsets
    const void* item_buffers[2] = {nullptr, nullptr};  // validity, ids

    // Consumers release arrays on any thread, and some without the GIL.
    ~ListArray() {
        try {
            if (may_call_python()) {
                const WithGil gil;
                ids.reset();
                offsets.reset();
                return;
            }
        } catch (const ShuttingDown&) {
        }
        ids.release();
        offsets.release();
    }
};

using Shared = std::shared_ptr<ListArray>;

void release_item(arrow::Array* array) {
    array->release = nullptr;
    delete static_cast<Shared*>(array->private_data);
}

void release_array(arrow::Array* array) {
    auto* const parts = static_cast<Shared*>(array->private_data);
    arrow::Array& item = (*parts)->item;
    if (item.release) item.release(&item);
    array->release = nullptr;
    delete parts;
}

void release_item(arrow::Schema* schema) { schema->release = nullptr; }

void release_schema(arrow::Schema* schema) {
    auto* const parts = static_cast<ListSchema*>(schema->private_data);
    if (parts->item.release) parts->item.release(&parts->item);
    delete parts;
    schema->release = nullptr;
}

// A capsule that releases the structure if no consumer took it.
template <typename Structure>
nb::object capsule(std::unique_ptr<Structure> made, const char* name) {
    PyObject* const object = PyCapsule_New(made.get(), name, [](PyObject* self) {
        auto* held = static_cast<Structure*>(PyCapsule_GetPointer(self, PyCapsule_GetName(self)));
        if (held->release) held->release(held);
        delete held;
    });
    if (!object) throw nb::python_error();
    made.release();
    return nb::steal(object);
}

nb::object schema_capsule() {
    auto* const parts = new ListSchema;
    parts->item.format = "I";
    parts->item.name = "item";
    parts->item.release = release_item;
    auto schema = std::make_unique<arrow::Schema>();
    schema->format = "+L";
    schema->name = "";
    schema->n_children = 1;
    schema->children = parts->children;
    schema->private_data = parts;
    schema->release = release_schema;
    return capsule(std::move(schema), "arrow_schema");
}

nb::typed<nb::tuple, nb::object, nb::object> arrow_lists(Input<Id> ids,
                                                         Input<std::int64_t> offsets) {
    if (offsets.size() == 0) throw nb::value_error("offsets must not be empty");
    const auto parts = std::make_shared<ListArray>();
    parts->ids = nb::cast(ids);
    parts->offsets = nb::cast(offsets);
    parts->item_buffers[1] = ids.data();
    parts->list_buffers[1] = offsets.data();
    parts->item.length = static_cast<std::int64_t>(ids.size());
    parts->item.n_buffers = 2;
    parts->item.buffers = parts->item_buffers;
    parts->item.release = release_item;
    parts->item.private_data = new Shared(parts);
    auto array = std::make_unique<arrow::Array>();
    array->length = static_cast<std::int64_t>(offsets.size()) - 1;
    array->n_buffers = 2;
    array->buffers = parts->list_buffers;
    array->n_children = 1;
    array->children = parts->children;
    array->private_data = new Shared(parts);
    array->release = release_array;
    return nb::make_tuple(schema_capsule(), capsule(std::move(array), "arrow_array"));
}

}  // namespace

void bind_arrow_lists(nb::module_& module) {
    using namespace nb::literals;

    module.def("arrow_lists", &arrow_lists, "ids"_a, "offsets"_a,
               "Return the capsules of an Arrow array of lists over the memory of both arrays.");
}

}  // namespace toksmith::bindings

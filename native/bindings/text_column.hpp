// A column of texts in Arrow's memory layout, used where it is. Python sees a sequence of bytes;
// the functions of the kernel that take texts read its memory directly.
#pragma once

#include <nanobind/nanobind.h>

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "arrow.hpp"
#include "encode/input_text.hpp"

namespace toksmith::bindings {

class TextColumn {
 public:
    // `object` has __arrow_c_stream__ or __arrow_c_array__. Throws TypeError if it holds something
    // else than texts; the message is the Arrow format of its items.
    explicit TextColumn(nanobind::handle object);

    std::size_t size() const { return texts_.size(); }
    std::size_t bytes() const;
    const std::vector<InputText>& texts() const { return texts_; }
    // The first row that holds no text. It is read as an empty one.
    std::optional<std::size_t> first_null() const { return first_null_; }
    // Rows [start, end), over the same memory.
    TextColumn slice(std::size_t start, std::size_t end) const;

 private:
    using Memory = std::vector<arrow::Owned<arrow::Array>>;

    TextColumn() = default;
    void add(arrow::Owned<arrow::Array> array, const arrow::Schema& schema);

    std::vector<InputText> texts_;
    std::optional<std::size_t> first_null_;
    std::shared_ptr<Memory> memory_ = std::make_shared<Memory>();
};

}  // namespace toksmith::bindings

// What the chunk loop asks of a model: the ids of one chunk that the cache does not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <stdexcept>

#include "ids.hpp"

namespace toksmith {

class Boundaries;

// Text that a model has no token for, not even an unknown one.
struct UnknownText : std::runtime_error {
    // `start`: of the character, in bytes from the start of its chunk.
    UnknownText(const std::uint8_t* chunk, std::size_t size, std::size_t start);
};

class Model {
 public:
    // Memory that a model may keep from one miss to the next; each thread has its own.
    struct Scratch {
        virtual ~Scratch() = default;
    };

    virtual ~Model() = default;
    virtual std::unique_ptr<Scratch> scratch() const = 0;
    // Appends the ids of the chunk and, unless `spans` is null, where what each stands for starts
    // and ends in the chunk: two numbers an id. The answer may depend on nothing but the chunk.
    // A model of text is given UTF-8, and must survive anything else.
    virtual void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                              Ids& out, Ids* spans) const = 0;

    // Where a text may be cut into chunks, for Family::kModel.
    virtual const Boundaries* boundaries() const { return nullptr; }
    // Whether a document that starts so is encoded as if a space stood before it.
    virtual bool leads(const std::uint8_t*, const std::uint8_t*) const { return false; }
};

}  // namespace toksmith

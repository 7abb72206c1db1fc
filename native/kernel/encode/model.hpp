// What the chunk loop asks of a model: the ids of one chunk that the cache does not hold.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "ids.hpp"

namespace toksmith {

class Model {
 public:
    // Memory that a model may keep from one miss to the next; each thread has its own.
    struct Scratch {
        virtual ~Scratch() = default;
    };

    virtual ~Model() = default;
    virtual std::unique_ptr<Scratch> scratch() const = 0;
    // Appends the ids of the chunk. The answer may depend on nothing but the chunk.
    virtual void encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch& scratch,
                              Ids& out) const = 0;
};

}  // namespace toksmith

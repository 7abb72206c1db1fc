// Models with the stages before them; what those do comes from Python, character by character.

#include <nanobind/nanobind.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <stdexcept>

#include "buffers.hpp"
#include "staged/model.hpp"

namespace toksmith::bindings {
namespace {

// What Python says of a block of characters: for each the atom it ends with and the one it starts
// with, whether it depends on its neighbours, and where its units end in `units`.
using Rows = std::tuple<nb::ndarray<const std::uint16_t, nb::shape<CharacterTable::kBlock, 2>,
                                    nb::c_contig, nb::device::cpu>,
                        Input<std::uint8_t>, Input<std::int64_t>, nb::bytes>;

std::unique_ptr<const CharacterTable::Block> block_of(const Rows& given) {
    const auto& [atoms, depends, ends, units] = given;
    auto block = std::make_unique<CharacterTable::Block>();
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(units.c_str());
    block->units.assign(bytes, bytes + units.size());
    if (depends.size() != CharacterTable::kBlock || ends.size() != CharacterTable::kBlock) {
        throw std::invalid_argument("a block has another number of characters");
    }
    std::int64_t begin = 0;
    for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
        const std::int64_t end = ends(i);
        if (end < begin || end > static_cast<std::int64_t>(units.size()) || end - begin > 0xFFFF) {
            throw std::invalid_argument("the units of a block are out of order");
        }
        for (std::int64_t unit = begin; unit < end; unit += 2 + bytes[unit + 1]) {
            if (unit + 2 > end || unit + 2 + bytes[unit + 1] > end) {
                throw std::invalid_argument("a unit reaches beyond its character's");
            }
        }
        block->rows[i] = {atoms(i, 0), atoms(i, 1), static_cast<std::uint16_t>(end - begin),
                          depends(i) != 0, static_cast<std::uint32_t>(begin)};
        begin = end;
    }
    return block;
}

// A Python object that C++ may keep, copy and drop on any thread.
std::shared_ptr<nb::object> kept(nb::object object) {
    return {new nb::object(std::move(object)), [](nb::object* dropped) {
                const nb::gil_scoped_acquire acquire;
                delete dropped;
            }};
}

std::shared_ptr<StagedModel> staged_model(std::shared_ptr<Model> model, nb::object fill,
                                          InputRows<std::uint16_t> joined, const std::string& lead,
                                          bool collapse, bool trim, nb::object fallback) {
    if (joined.shape(1) != 2) throw nb::value_error("joined must have two columns");
    std::vector<std::pair<Boundaries::Atom, Boundaries::Atom>> pairs;
    pairs.reserve(joined.shape(0));
    for (std::size_t i = 0; i < joined.shape(0); ++i)
        pairs.emplace_back(joined(i, 0), joined(i, 1));

    Stages stages;
    stages.collapse = collapse;
    stages.trim = trim;
    if (lead == "always") {
        stages.lead = Lead::kAlways;
    } else if (lead == "unless-space") {
        stages.lead = Lead::kUnlessSpace;
    } else if (lead != "none") {
        throw nb::value_error("lead must be \"none\", \"always\" or \"unless-space\"");
    }
    stages.fallback = [call = kept(std::move(fallback))](
                          const std::uint8_t* chunk, std::size_t size,
                          std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends) {
        const nb::gil_scoped_acquire acquire;
        const nb::list found = nb::cast<nb::list>((*call)(nb::bytes(chunk, size)));
        for (nb::handle each : found) {
            const auto piece = nb::cast<nb::bytes>(each);
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(piece.c_str());
            pieces.insert(pieces.end(), bytes, bytes + piece.size());
            ends.push_back(pieces.size());
        }
    };
    auto table =
        std::make_shared<const CharacterTable>([call = kept(std::move(fill))](std::uint32_t block) {
            const nb::gil_scoped_acquire acquire;
            return block_of(nb::cast<Rows>((*call)(block)));
        });
    auto boundaries = std::make_shared<const Boundaries>(table, pairs);
    return std::make_shared<StagedModel>(std::move(model), std::move(table), std::move(boundaries),
                                         std::move(stages));
}

}  // namespace

void bind_staged(nb::module_& module) {
    using namespace nb::literals;

    module.attr("OPEN") = static_cast<unsigned>(Boundaries::kOpen);
    module.attr("CHARACTERS_A_BLOCK") = static_cast<unsigned>(CharacterTable::kBlock);
    nb::class_<StagedModel, Model>(module, "StagedModel")
        .def(nb::new_(&staged_model), "model"_a, "fill"_a, "joined"_a, "lead"_a, "collapse"_a,
             "trim"_a, "fallback"_a);
}

}  // namespace toksmith::bindings

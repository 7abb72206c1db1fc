// Binds models fused with the stages before them. Python computes the normalized form of
// characters, block by block.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "buffers.hpp"
#include "fused/model.hpp"
#include "fused/sentencepiece_stages.hpp"
#include "fused/span_model.hpp"
#include "gil.hpp"
#include "text/character_mapper.hpp"
#include "utf8/encode.hpp"

namespace toksmith::bindings {
namespace {

std::span<const std::uint8_t> view(const nb::bytes& bytes) {
    return {reinterpret_cast<const std::uint8_t*>(bytes.c_str()), bytes.size()};
}

// The result of Python's describe_block() for a block in which each character is its own normalized
// form: the cut classes of the characters, and their units.
using Seen = std::tuple<Input<std::uint16_t>, Input<std::uint8_t>>;
// The result for any other block: cut classes and units of all normalized characters; their
// concatenated UTF-8; for each character of the block, the number of its normalized characters, and
// its Context.
using Rewritten = std::tuple<Seen, nb::bytes, Input<std::uint16_t>, nb::bytes>;

// The flags of Context in src/toksmith/fusion/characters.py.
enum Context : std::uint8_t { kBound = 1, kJoins = 2, kTakes = 4 };

void add_unit(CharacterTable::Block& block, std::uint8_t unit, const std::uint8_t* bytes,
              std::uint32_t size) {
    block.units.insert(block.units.end(), {unit, static_cast<std::uint8_t>(size)});
    block.units.insert(block.units.end(), bytes, bytes + size);
}

std::unique_ptr<const CharacterTable::Block> block_of(std::uint32_t number, const Seen& seen) {
    const auto& [cut_classes, units] = seen;
    if (cut_classes.size() != CharacterTable::kBlock || units.size() != CharacterTable::kBlock) {
        throw std::invalid_argument(
            "describe_block() must return one item for each character of a block");
    }
    auto block = std::make_unique<CharacterTable::Block>();
    block->units.reserve(CharacterTable::kBlock * (2 + utf8::kMostBytes));
    for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
        const std::size_t begin = block->units.size();
        std::array<std::uint8_t, utf8::kMostBytes> bytes;
        const std::uint32_t size = utf8::encode(number * CharacterTable::kBlock + i, bytes.data());
        add_unit(*block, units(i), bytes.data(), size);
        block->rows[i] = {.left = cut_classes(i),
                          .right = cut_classes(i),
                          .size = static_cast<std::uint16_t>(2 + size),
                          .is_context_sensitive = false,
                          .joins = false,
                          .takes = false,
                          .begin = static_cast<std::uint32_t>(begin)};
    }
    return block;
}

std::unique_ptr<const CharacterTable::Block> block_of(const Rewritten& given) {
    const auto& [cut_classes, units] = std::get<0>(given);
    const auto& sizes = std::get<2>(given);
    const auto text = view(std::get<1>(given)), contexts = view(std::get<3>(given));
    if (sizes.size() != CharacterTable::kBlock || contexts.size() != CharacterTable::kBlock) {
        throw std::invalid_argument(
            "describe_block() must return one item for each character of a block");
    }
    auto block = std::make_unique<CharacterTable::Block>();
    block->units.reserve(text.size() + 2 * units.size());
    const std::uint8_t *p = text.data(), *end = p + text.size();
    std::size_t place = 0;  // the index among all normalized characters
    for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
        const std::size_t begin = block->units.size(), first = place;
        for (; place < first + sizes(i); ++place) {
            if (p == end || place == units.size() || place == cut_classes.size()) {
                throw std::invalid_argument(
                    "describe_block() returned counts above the number of classes");
            }
            const std::uint32_t size = utf8::decode(p, end).size;
            add_unit(*block, units(place), p, size);
            p += size;
        }
        const std::size_t size = block->units.size() - begin;
        if (size > 0xFFFF)
            throw std::invalid_argument("the normalized form of a character is above 64 KiB");
        const bool open = (contexts[i] & (kBound | kJoins)) != 0 || first == place;
        block->rows[i] = {.left = open ? CutTable::kContextSensitive : cut_classes(place - 1),
                          .right = open ? CutTable::kContextSensitive : cut_classes(first),
                          .size = static_cast<std::uint16_t>(size),
                          .is_context_sensitive = (contexts[i] & kBound) != 0,
                          .joins = (contexts[i] & kJoins) != 0,
                          .takes = (contexts[i] & kTakes) != 0,
                          .begin = static_cast<std::uint32_t>(begin)};
    }
    return block;
}

// A Python object that C++ may keep, copy and drop on any thread.
std::shared_ptr<nb::object> kept(nb::object object) {
    return {new nb::object(std::move(object)), [](nb::object* dropped) {
                if (!may_call_python()) return;  // the process is about to end
                const WithGil gil;
                delete dropped;
            }};
}

// `call`: see FusionRules.locate_stages in src/toksmith/fusion/rules.py.
decltype(Stages::locate_stages) locate_stages_of(nb::object function) {
    return [call = kept(std::move(function))](const std::uint8_t* chunk, std::size_t size,
                                              bool prefixed, std::vector<std::uint8_t>& pieces,
                                              std::vector<std::size_t>& ends,
                                              std::vector<ByteRange>& found) {
        using Piece = std::tuple<nb::bytes, std::vector<std::size_t>, std::vector<std::size_t>>;
        const WithGil gil;
        const nb::object all = call_python(*call, nb::bytes(chunk, size), nb::bool_(prefixed));
        for (nb::handle each : nb::cast<nb::list>(all)) {
            const auto& [piece, starts, stops] = nb::cast<Piece>(each);
            const auto bytes = view(piece);
            pieces.insert(pieces.end(), bytes.begin(), bytes.end());
            ends.push_back(pieces.size());
            if (starts.size() != stops.size())
                throw std::invalid_argument(
                    "the stages returned unequal numbers of starts and ends");
            for (std::size_t i = 0; i < starts.size(); ++i) found.push_back({starts[i], stops[i]});
        }
    };
}

StageRunner stage_runner(nb::object describe_block, InputRows<std::uint16_t> inseparable,
                         const std::string& prefix_space, bool collapse, bool trim,
                         const std::string& origins, bool space_precedes_piece,
                         nb::object run_stages, nb::object locate_stages) {
    if (inseparable.shape(1) != 2) throw nb::value_error("inseparable must have two columns");
    std::vector<std::pair<CutTable::CutClass, CutTable::CutClass>> pairs;
    pairs.reserve(inseparable.shape(0));
    for (std::size_t i = 0; i < inseparable.shape(0); ++i)
        pairs.emplace_back(inseparable(i, 0), inseparable(i, 1));

    Stages stages;
    stages.collapse = collapse;
    stages.trim = trim;
    stages.space_precedes_piece = space_precedes_piece;
    if (origins == "shifted") {
        stages.origin = Origin::kShifted;
    } else if (origins == "up-to-next") {
        stages.origin = Origin::kUpToNext;
    } else if (origins != "own") {
        throw nb::value_error("origins must be \"own\", \"shifted\" or \"up-to-next\"");
    }
    if (prefix_space == "always") {
        stages.prefix_space = PrefixSpace::kAlways;
    } else if (prefix_space == "unless-space") {
        stages.prefix_space = PrefixSpace::kUnlessSpace;
    } else if (prefix_space != "none") {
        throw nb::value_error("prefix_space must be \"none\", \"always\" or \"unless-space\"");
    }
    stages.run_stages = [call = kept(std::move(run_stages))](
                            const std::uint8_t* chunk, std::size_t size,
                            std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends) {
        const WithGil gil;
        const nb::list found = nb::cast<nb::list>(call_python(*call, nb::bytes(chunk, size)));
        for (nb::handle each : found) {
            const auto piece = nb::cast<nb::bytes>(each);
            const auto* bytes = reinterpret_cast<const std::uint8_t*>(piece.c_str());
            pieces.insert(pieces.end(), bytes, bytes + piece.size());
            ends.push_back(pieces.size());
        }
    };
    stages.locate_stages = locate_stages_of(std::move(locate_stages));
    auto table = std::make_shared<const CharacterTable>(
        [call = kept(std::move(describe_block))](std::uint32_t block) {
            const WithGil gil;
            const nb::object rows = call_python(*call, nb::int_(block));
            if (Seen seen; nb::try_cast(rows, seen)) return block_of(block, seen);
            return block_of(nb::cast<Rewritten>(rows));
        });
    auto cut_table = std::make_shared<const CutTable>(table, pairs);
    return {std::move(table), std::move(cut_table), std::move(stages)};
}

// The map, or null if it is damaged. The last one is kept, because a file is checked before its
// model is built, and processes mostly use one map.
std::shared_ptr<const CharacterMap> character_map(nb::bytes charsmap) {
    static std::mutex guard;  // protects the following two; no Python runs while it is held
    static std::string last_bytes;
    static std::shared_ptr<const CharacterMap> last;
    const std::string_view given(charsmap.c_str(), charsmap.size());
    {
        const std::scoped_lock lock(guard);
        if (!given.empty() && given == last_bytes) return last;
    }
    auto found = CharacterMap::read(given);
    auto map = found ? std::make_shared<const CharacterMap>(*std::move(found)) : nullptr;
    const std::scoped_lock lock(guard);
    if (!given.empty()) last_bytes = given, last = map;
    return map;
}

// The characters that the keys of a map start with. None if the map is damaged.
std::optional<std::string> first_characters(nb::bytes charsmap) {
    const auto map = character_map(std::move(charsmap));
    if (!map) return std::nullopt;
    std::string found;
    std::array<std::uint8_t, utf8::kMostBytes> bytes;
    for (const std::uint32_t code : map->firsts()) {
        const std::uint32_t size = utf8::encode(code, bytes.data());
        found.append(bytes.data(), bytes.data() + size);
    }
    return found;
}

// Returns None if the stages have to run one by one. Throws ValueError for a damaged map.
std::shared_ptr<FusedModel> sentencepiece_model(
    std::shared_ptr<Model> model, const Tokens& tokens, nb::bytes types, bool fuses_unknown,
    nb::bytes charsmap, nb::typed<nb::tuple, nb::bytes, nb::ellipsis> protected_symbols,
    bool add_dummy_prefix, bool remove_extra_whitespaces, bool escape_whitespaces,
    nb::object locate_stages) {
    auto map = character_map(charsmap);
    if (!map) throw nb::value_error("the map of characters is damaged");
    std::vector<std::string> symbols;
    for (nb::handle symbol : protected_symbols) {
        const auto bytes = nb::cast<nb::bytes>(symbol);
        symbols.emplace_back(bytes.c_str(), bytes.size());
    }
    const sentencepiece::NormalizerOptions options{
        .add_dummy_prefix = add_dummy_prefix,
        .remove_extra_whitespaces = remove_extra_whitespaces,
        .escape_whitespaces = escape_whitespaces};
    const auto kinds = view(types);
    return sentencepiece::fuse(
        std::move(model), vocabulary(tokens), {kinds.begin(), kinds.end()}, fuses_unknown,
        std::make_shared<const sentencepiece::Normalizer>(std::move(map), symbols, options),
        locate_stages_of(std::move(locate_stages)));
}

// The result of Python's describe_block() for a block with changed characters: the new texts as
// UTF-8, the size of each in bytes, and the CharacterMapper::Kind of each character. None: all are
// kept.
using Changed = std::tuple<nb::bytes, Input<std::uint16_t>, nb::bytes>;

std::unique_ptr<const CharacterMapper::Block> mapped_block(const Changed& given) {
    const auto text = view(std::get<0>(given)), kinds = view(std::get<2>(given));
    const auto& sizes = std::get<1>(given);
    if (sizes.size() != CharacterMapper::kBlock || kinds.size() != CharacterMapper::kBlock)
        throw std::invalid_argument(
            "describe_block() must return one item for each character of a block");
    auto block = std::make_unique<CharacterMapper::Block>();
    block->all_kept = false;
    for (std::uint32_t i = 0; i < CharacterMapper::kBlock; ++i) {
        if (kinds[i] > 2) throw std::invalid_argument("describe_block() returned an unknown kind");
        block->kinds[i] = static_cast<CharacterMapper::Kind>(kinds[i]);
        block->begins[i + 1] = block->begins[i] + sizes(i);
    }
    if (block->begins.back() != text.size())
        throw std::invalid_argument("describe_block() returned sizes that do not fit its text");
    block->text.assign(text.begin(), text.end());
    return block;
}

std::shared_ptr<CharacterMapper> character_mapper(nb::object describe_block, nb::object rewrite) {
    return std::make_shared<CharacterMapper>(
        [call = kept(std::move(describe_block))](std::uint32_t block) {
            const WithGil gil;
            const nb::object found = call_python(*call, nb::int_(block));
            if (found.is_none()) return std::make_unique<const CharacterMapper::Block>();
            return mapped_block(nb::cast<Changed>(found));
        },
        [call = kept(std::move(rewrite))](std::string_view stretch) {
            const WithGil gil;
            const auto made =
                nb::cast<nb::bytes>(call_python(*call, nb::bytes(stretch.data(), stretch.size())));
            return std::string(made.c_str(), made.size());
        });
}

// Returns None if the text does not change.
std::optional<nb::bytes> map_characters(const CharacterMapper& mapper, nb::handle text) {
    const TextView view(text);
    const Text whole = view.text();
    std::vector<std::uint8_t> made;
    {
        const WithoutGil without_gil;
        if (!mapper.map(whole, made)) return std::nullopt;
    }
    return nb::bytes(made.data(), made.size());
}

}  // namespace

void bind_fused(nb::module_& module) {
    using namespace nb::literals;

    nb::class_<CharacterMapper>(module, "CharacterMapper")
        .def(nb::new_(&character_mapper), "describe_block"_a, "rewrite"_a)
        .def("map", &map_characters, "text"_a);
    module.attr("OPEN") = static_cast<unsigned>(CutTable::kContextSensitive);
    module.attr("CHARACTERS_A_BLOCK") = static_cast<unsigned>(CharacterTable::kBlock);
    nb::class_<StageRunner>(module, "StageRunner")
        .def(nb::new_([](nb::object describe_block, InputRows<std::uint16_t> inseparable,
                         const std::string& prefix_space, bool collapse, bool trim,
                         const std::string& origins, bool space_precedes_piece,
                         nb::object run_stages, nb::object locate_stages) {
                 return new StageRunner(
                     stage_runner(std::move(describe_block), std::move(inseparable), prefix_space,
                                  collapse, trim, origins, space_precedes_piece,
                                  std::move(run_stages), std::move(locate_stages)));
             }),
             "describe_block"_a, "inseparable"_a, "prefix_space"_a, "collapse"_a, "trim"_a,
             "origins"_a, "space_precedes_piece"_a, "run_stages"_a, "locate_stages"_a);
    nb::class_<FusedModel, Model>(module, "FusedModel")
        .def(nb::new_([](std::shared_ptr<Model> model, const StageRunner& stages) {
                 return std::make_shared<FusedModel>(std::move(model), stages);
             }),
             "model"_a, "stages"_a);
    nb::class_<SpanModel, Model>(module, "SpanModel",
                                 "A fused model for Encoder.encode_with_spans.")
        .def(nb::init<std::shared_ptr<const FusedModel>>(), "model"_a);
    module.def(
        "is_character_map", [](nb::bytes charsmap) { return character_map(charsmap) != nullptr; },
        "charsmap"_a, "Return whether a compiled map of characters is free of damage.");
    module.def("first_characters", &first_characters, "charsmap"_a,
               "Return the characters that the keys of a compiled map start with, or None if the "
               "map is damaged.");
    module.def("sentencepiece_model", &sentencepiece_model, "model"_a, "tokens"_a, "types"_a,
               "fuses_unknown"_a, "charsmap"_a, "protected_symbols"_a, "add_dummy_prefix"_a,
               "remove_extra_whitespaces"_a, "escape_whitespaces"_a, "locate_stages"_a,
               nb::sig("def sentencepiece_model(model: Model, tokens: tuple[bytes, ...], types: "
                       "bytes, fuses_unknown: bool, charsmap: bytes, protected_symbols: "
                       "tuple[bytes, ...], add_dummy_prefix: bool, remove_extra_whitespaces: bool, "
                       "escape_whitespaces: bool, locate_stages: object) -> "
                       "FusedModel | None"),
               "Return a model after SentencePiece's normalizer, or None if it cannot be fused.");
}

}  // namespace toksmith::bindings

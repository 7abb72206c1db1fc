// Binds the models, one class for each kind, constructed from plain arrays.

#include <nanobind/nanobind.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string.h>

#include "buffers.hpp"
#include "models/bpe/character_model.hpp"
#include "models/bpe/model.hpp"
#include "models/bpe/ranks.hpp"
#include "models/bpe/sentencepiece_model.hpp"
#include "models/unigram/model.hpp"
#include "models/wordpiece.hpp"

namespace toksmith::bindings {

Vocabulary vocabulary(const Tokens& tokens) {
    Vocabulary result;
    const std::size_t size = tokens.size();
    result.offsets.reserve(size + 1);
    result.offsets.push_back(0);
    for (nb::handle token : tokens) {
        char* bytes = nullptr;
        Py_ssize_t length = 0;
        if (PyBytes_AsStringAndSize(token.ptr(), &bytes, &length) != 0) throw nb::python_error();
        result.bytes.insert(result.bytes.end(), bytes, bytes + length);
        result.offsets.push_back(result.bytes.size());
    }
    return result;
}

namespace {

// `merges`: three ids for each merge.
std::vector<bpe::MergeRule> merge_rules(const Input<std::uint32_t>& merges) {
    if (merges.size() % 3 != 0) throw nb::value_error("each merge must have three ids");
    std::vector<bpe::MergeRule> rules;
    rules.reserve(merges.size() / 3);
    for (std::size_t i = 0; i < merges.size(); i += 3) {
        rules.push_back({merges(i), merges(i + 1), merges(i + 2)});
    }
    return rules;
}

// Without merges, the ids are ranks, and the merges are recovered from them.
std::shared_ptr<bpe::BpeModel> bpe_model(const Tokens& tokens,
                                         std::optional<Input<std::uint32_t>> merges,
                                         bool whole_chunk_first) {
    Vocabulary given = vocabulary(tokens);
    const std::vector<bpe::MergeRule> rules =
        merges ? merge_rules(*merges) : bpe::recover_merges(given);
    const auto source = merges ? bpe::MergeSource::kGiven : bpe::MergeSource::kRecovered;
    return std::make_shared<bpe::BpeModel>(std::move(given), rules, whole_chunk_first, source);
}

std::shared_ptr<bpe::CharacterModel> character_model(const Tokens& tokens,
                                                     Input<std::uint32_t> merges,
                                                     std::optional<Id> unk, bool fuse_unk,
                                                     bool byte_fallback, const std::string& prefix,
                                                     const std::string& suffix,
                                                     bool whole_chunk_first) {
    return std::make_shared<bpe::CharacterModel>(
        vocabulary(tokens), merge_rules(merges),
        bpe::CharacterModel::Options{.unk = unk.value_or(bpe::CharacterModel::kNone),
                                     .fuse_unk = fuse_unk,
                                     .byte_fallback = byte_fallback,
                                     .prefix = prefix,
                                     .suffix = suffix,
                                     .whole_chunk_first = whole_chunk_first});
}

template <typename T, typename Given>
std::vector<T> list_of(const Input<Given>& values) {
    std::vector<T> list;
    list.reserve(values.size());
    for (std::size_t i = 0; i < values.size(); ++i) list.push_back(static_cast<T>(values(i)));
    return list;
}

std::shared_ptr<bpe::SentencePieceModel> sentencepiece_model(const Tokens& tokens,
                                                             Input<double> scores,
                                                             Input<std::uint8_t> types,
                                                             std::optional<Id> unk,
                                                             bool byte_fallback) {
    return std::make_shared<bpe::SentencePieceModel>(
        vocabulary(tokens), list_of<float>(scores), list_of<std::uint8_t>(types),
        unk.value_or(bpe::SentencePieceModel::kNone), byte_fallback);
}

std::shared_ptr<Model> unigram_model(const Tokens& tokens, Input<double> scores,
                                     Input<std::uint8_t> types, std::optional<Id> unk,
                                     bool byte_fallback, bool fuse_unk, bool single) {
    const unigram::Options options{
        .unk = unk.value_or(unigram::kNone), .byte_fallback = byte_fallback, .fuse_unk = fuse_unk};
    const Vocabulary pieces = vocabulary(tokens);
    if (single) {
        return std::make_shared<unigram::UnigramModel<float>>(
            pieces, list_of<double>(scores), list_of<std::uint8_t>(types), options);
    }
    return std::make_shared<unigram::UnigramModel<double>>(pieces, list_of<double>(scores),
                                                           list_of<std::uint8_t>(types), options);
}

// Converts the kernel's exceptions for invalid input to ToksmithError's subclasses.
void translate(const std::exception_ptr& thrown, void*) {
    try {
        std::rethrow_exception(thrown);
    } catch (const UnknownText& error) {
        const nb::object type = nb::module_::import_("toksmith.errors").attr("UnknownTokenError");
        PyErr_SetString(type.ptr(), error.what());
    } catch (const std::length_error& error) {  // text or vocabulary is too large
        const nb::object type = nb::module_::import_("toksmith.errors").attr("OptionError");
        PyErr_SetString(type.ptr(), error.what());
    }
}

// The id of the unknown token, or kNone.
Id unknown_id(std::optional<Id> unk) { return unk.value_or(wordpiece::kNone); }

std::shared_ptr<wordpiece::LongestMatchModel> longest_match_model(const Tokens& tokens,
                                                                  std::optional<Id> unk,
                                                                  bool fuse_unk) {
    return std::make_shared<wordpiece::LongestMatchModel>(
        vocabulary(tokens), wordpiece::Options{.unk = unknown_id(unk), .fuse_unk = fuse_unk});
}

std::shared_ptr<wordpiece::LongestMatchModel> wordpiece_model(const Tokens& tokens, Id unk,
                                                              const std::string& prefix,
                                                              std::size_t max_characters) {
    return std::make_shared<wordpiece::LongestMatchModel>(
        vocabulary(tokens),
        wordpiece::Options{
            .prefix = prefix, .unk = unk, .whole_unknown = true, .max_characters = max_characters});
}

std::shared_ptr<wordpiece::WordLevelModel> word_level_model(const Tokens& tokens,
                                                            std::optional<Id> unk) {
    return std::make_shared<wordpiece::WordLevelModel>(vocabulary(tokens), unknown_id(unk));
}

}  // namespace

void bind_models(nb::module_& module) {
    using namespace nb::literals;

    nb::register_exception_translator(&translate);
    nb::class_<Model>(module, "Model");
    nb::class_<bpe::BpeModel, Model>(module, "BpeModel")
        .def(nb::new_(&bpe_model), "tokens"_a, "merges"_a.none(), "whole_chunk_first"_a);
    nb::class_<bpe::CharacterModel, Model>(module, "CharacterModel")
        .def(nb::new_(&character_model), "tokens"_a, "merges"_a, "unk"_a.none(), "fuse_unk"_a,
             "byte_fallback"_a, "prefix"_a, "suffix"_a, "whole_chunk_first"_a);
    nb::class_<bpe::SentencePieceModel, Model>(module, "SentencePieceModel")
        .def(nb::new_(&sentencepiece_model), "tokens"_a, "scores"_a, "types"_a, "unk"_a.none(),
             "byte_fallback"_a);
    nb::class_<unigram::UnigramModel<float>, Model>(module, "UnigramModelSingle");
    nb::class_<unigram::UnigramModel<double>, Model>(module, "UnigramModelDouble");
    module.def("unigram_model", &unigram_model, "tokens"_a, "scores"_a, "types"_a, "unk"_a.none(),
               "byte_fallback"_a, "fuse_unk"_a, "single"_a);
    nb::class_<wordpiece::LongestMatchModel, Model>(module, "LongestMatchModel")
        .def(nb::new_(&longest_match_model), "tokens"_a, "unk"_a.none(), "fuse_unk"_a);
    module.def("wordpiece_model", &wordpiece_model, "tokens"_a, "unk"_a, "prefix"_a,
               "max_characters"_a);
    nb::class_<wordpiece::WordLevelModel, Model>(module, "WordLevelModel")
        .def(nb::new_(&word_level_model), "tokens"_a, "unk"_a.none());
}

}  // namespace toksmith::bindings

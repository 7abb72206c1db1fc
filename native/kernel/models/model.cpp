#include "models/model.hpp"

#include <cstdio>
#include <string>

#include "models/bpe/lane_merge_table.hpp"
#include "models/unigram/lane_viterbi_table.hpp"
#include "utf8/decode.hpp"

namespace toksmith {
namespace {

std::string message(const std::uint8_t* chunk, std::size_t size, std::size_t start) {
    const utf8::Char found = utf8::decode(chunk + start, chunk + size);
    char name[16];
    std::snprintf(name, sizeof name, "U+%04X", found.code == utf8::kInvalid ? 0xFFFD : found.code);
    return "no piece matches " + std::string(name) + " at byte " + std::to_string(start) +
           " of its chunk, and the model has no unknown piece";
}

}  // namespace

UnknownText::UnknownText(const std::uint8_t* chunk, std::size_t size, std::size_t start)
    : std::runtime_error(message(chunk, size, start)) {}

std::vector<bpe::LaneMergeRule> Model::lane_rules() const { return {}; }

std::unique_ptr<unigram::LaneViterbiTable> Model::make_lane_viterbi(
    const unigram::LaneTexts&) const {
    return nullptr;
}

}  // namespace toksmith

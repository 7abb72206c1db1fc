#include "models/bpe/sentencepiece_model.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <stdexcept>

#include "utf8/decode.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {
namespace {

// The rank of each score: 0 is the highest score; equal scores have equal ranks.
std::vector<std::uint32_t> ranks_of(const std::vector<float>& scores) {
    std::vector<Id> order(scores.size());
    std::iota(order.begin(), order.end(), Id{0});
    const auto score_of = [&](Id id) { return scores[id]; };
    // Most files are sorted already.
    if (!std::ranges::is_sorted(order, std::greater<>(), score_of))
        std::ranges::sort(order, std::greater<>(), score_of);
    std::vector<std::uint32_t> ranks(scores.size());
    std::uint32_t rank = 0;
    for (std::size_t i = 1; i < order.size(); ++i) {
        if (scores[order[i]] != scores[order[i - 1]]) ++rank;
        ranks[order[i]] = rank;
    }
    return ranks;
}

}  // namespace

// Builds the tables for merging from the pieces.
class SentencePieceModel::Rules {
 public:
    Rules(const Vocabulary& vocabulary, const std::vector<float>& scores,
          const std::vector<std::uint8_t>& types, Id unk)
        : symbols(vocabulary.size()), known(vocabulary.size(), false) {
        if (scores.size() != vocabulary.size() || types.size() != vocabulary.size()) {
            throw std::invalid_argument("each piece needs a score and a type");
        }
        if (unk != kNone && unk >= vocabulary.size()) {
            throw std::invalid_argument("the unknown piece has no such id");
        }
        lengths.resize(vocabulary.size());
        PiecesByLength merged;
        std::size_t merged_count = 0;
        for (Id id = 0; id < vocabulary.size(); ++id) {
            const auto type = static_cast<PieceType>(types[id]);
            lengths[id] = static_cast<std::uint32_t>(vocabulary.length(id));
            if (type == PieceType::kUserDefined) {
                if (vocabulary[id].empty()) {
                    throw std::invalid_argument("a user-defined piece is empty");
                }
                user_defined.push_back({vocabulary[id], id});
            }
            if (type != PieceType::kNormal && type != PieceType::kUnused) continue;
            known[id] = type == PieceType::kNormal;
            const auto [text, end] = bytes_of(vocabulary, id);
            const utf8::Char first = utf8::decode(text, end);
            if (text == end || first.code == utf8::kInvalid) continue;
            if (text + first.size == end) {
                characters.set(first.code, id);
                starts.push_back(id);
            } else {
                merged[lengths[id]].push_back(id);
                ++merged_count;
            }
        }
        find_pairs(vocabulary, ranks_of(scores), merged, merged_count, types);
    }

    std::vector<LaneMergeRule> lane_rules() const {
        std::vector<LaneMergeRule> rules;
        for (const auto& [left, right, merge] : pairs) {
            rules.push_back({left, right, merge.id, merge.rank, known[merge.id]});
        }
        return rules;
    }

    std::size_t symbols;  // the number of ids, and of characters that are not pieces
    std::vector<bool> known;
    std::vector<std::uint32_t> lengths;
    CodePointTable characters;
    std::vector<Id> starts;
    std::vector<SymbolRule> pairs;
    std::unordered_map<Id, std::pair<Id, Id>> parts;
    std::vector<ByteTrie::Entry> user_defined;

 private:
    // The pieces of several characters by their length in bytes.
    using PiecesByLength = std::map<std::uint32_t, std::vector<Id>>;

    static std::pair<const std::uint8_t*, const std::uint8_t*> bytes_of(
        const Vocabulary& vocabulary, Id id) {
        const std::string_view token = vocabulary[id];
        const auto* text = reinterpret_cast<const std::uint8_t*>(token.data());
        return {text, text + token.size()};
    }

    // In the order of piece lengths, so that the table already contains all pieces that can occur
    // inside this one.
    void find_pairs(const Vocabulary& vocabulary, const std::vector<std::uint32_t>& ranks,
                    const PiecesByLength& merged, std::size_t merged_count,
                    const std::vector<std::uint8_t>& types) {
        PairTable table(merged_count);
        pairs.reserve(merged_count);
        SymbolRun run;
        const auto find_pair = [&](Id id) {
            if (!spell(vocabulary, id, run)) return;
            for (std::size_t i = 0; i + 1 < run.ids.size(); ++i) {
                run.merges.push_back(table.find(run.ids[i], run.ids[i + 1]));
            }
            run.merge(table, false);
            if (run.ids.size() != 2) return;
            const Id left = run.ids[0], right = run.ids[1];
            table.insert(left, right, {ranks[id], id});
            pairs.push_back({left, right, {ranks[id], id}});
            if (static_cast<PieceType>(types[id]) == PieceType::kUnused) parts[id] = {left, right};
        };
        for (const auto& [length, ids] : merged) std::ranges::for_each(ids, find_pair);
    }

    // Writes the symbols of the characters of a piece. Returns false if it is invalid UTF-8, which
    // no text matches.
    bool spell(const Vocabulary& vocabulary, Id id, SymbolRun& run) {
        run.clear();
        auto [text, end] = bytes_of(vocabulary, id);
        while (text < end) {
            const utf8::Char found = utf8::decode(text, end);
            if (found.code == utf8::kInvalid) return false;
            Id symbol = characters[found.code];
            if (symbol == kNone) {
                symbol = static_cast<Id>(symbols++);
                characters.set(found.code, symbol);
                starts.push_back(symbol);
                known.push_back(false);
                lengths.push_back(found.size);
            }
            run.ids.push_back(symbol);
            text += found.size;
        }
        return true;
    }
};

// Converts the characters of a chunk to symbols, and merges them run by run. A run ends between two
// symbols that no merge reaches across.
class SentencePieceModel::Reader {
 public:
    Reader(const SentencePieceModel& model, const std::uint8_t* chunk, Scratch& scratch,
           IdArray& out, IdArray* spans)
        : model_(model), chunk_(chunk), run_(scratch.run), out_(out), spans_(spans) {
        run_.clear();
    }

    void read(std::size_t size) {
        InterruptionPoints<std::size_t{1} << 16> points;
        for (std::size_t start = 0; start < size;) {
            points.step();
            const std::uint8_t* text = chunk_ + start;
            if (model_.starts_user_defined_[*text]) {
                std::size_t length = 0;
                const Id id = model_.user_defined_.longest(text, size - start, length);
                if (id != kNone) {
                    flush();
                    token(id, start, start + length);
                    start += length;
                    continue;
                }
            }
            const utf8::Char found = utf8::decode(text, chunk_ + size);
            const Id symbol = model_.characters_[found.code];
            if (symbol == kNone) {
                flush();
                unknown(start, start + found.size);
            } else {
                push(symbol, found.code, start);
            }
            start += found.size;
        }
        flush();
    }

 private:
    void push(Id symbol, std::uint32_t code, std::size_t start) {
        if (!run_.ids.empty()) {
            const Merge merge = (last_code_ | code) < kAscii
                                    ? model_.ascii_pairs_[last_code_ * kAscii + code]
                                    : model_.pairs_.find(run_.ids.back(), symbol);
            if (model_.pairs_.never_merges(merge)) {
                flush();
            } else {
                run_.merges.push_back(merge);
            }
        }
        if (run_.ids.empty()) run_start_ = start;
        run_.ids.push_back(symbol);
        last_code_ = code;
    }

    // Merges the run and appends its tokens.
    void flush() {
        if (run_.ids.empty()) return;
        if (run_.ids.size() > 1) run_.merge(model_.pairs_.table(), false);
        std::size_t start = run_start_;
        for (const Id symbol : run_.ids) {
            const std::size_t next = start + model_.lengths_[symbol];
            if (model_.known_[symbol]) {
                token(symbol, start, next);
            } else {
                take_apart(symbol, start);
            }
            start = next;
        }
        run_.clear();
    }

    // Appends the parts of an unused piece, or an unknown character.
    void take_apart(Id symbol, std::size_t start) {
        std::vector<Id> waiting{symbol};
        while (!waiting.empty()) {
            const Id part = waiting.back();
            waiting.pop_back();
            const auto found = model_.parts_.find(part);
            if (found != model_.parts_.end()) {
                waiting.push_back(found->second.second);
                waiting.push_back(found->second.first);
                continue;
            }
            const std::size_t end = start + model_.lengths_[part];
            if (model_.known_[part]) {
                token(part, start, end);
            } else {
                unknown(start, end);
            }
            start = end;
        }
    }

    void token(Id id, std::size_t start, std::size_t end) {
        out_.push(id);
        if (spans_) {
            spans_->push(static_cast<Id>(start));
            spans_->push(static_cast<Id>(end));
        }
        unknown_before_ = false;
    }

    // Adjacent unknown characters become one unknown token or, with byte_fallback, byte tokens.
    void unknown(std::size_t start, std::size_t end) {
        if (model_.byte_fallback_) {
            for (std::size_t i = start; i < end; ++i) token(model_.byte_ids_[chunk_[i]], i, i + 1);
        } else if (!unknown_before_) {
            if (model_.unk_ != kNone) token(model_.unk_, start, end);
            unknown_before_ = true;
        } else if (spans_ && model_.unk_ != kNone) {
            spans_->data()[spans_->size() - 1] = static_cast<Id>(end);
        }
    }

    const SentencePieceModel& model_;
    const std::uint8_t* chunk_;
    SymbolRun& run_;
    std::size_t run_start_ = 0;
    std::uint32_t last_code_ = 0;  // the code point of the last symbol of the run
    IdArray& out_;
    IdArray* spans_;
    bool unknown_before_ = false;
};

SentencePieceModel::SentencePieceModel(const Vocabulary& vocabulary,
                                       const std::vector<float>& scores,
                                       const std::vector<std::uint8_t>& types, Id unk,
                                       bool byte_fallback)
    : SentencePieceModel(Rules(vocabulary, scores, types, unk), byte_ids(vocabulary), unk,
                         byte_fallback) {}

SentencePieceModel::SentencePieceModel(Rules rules, const std::array<Id, 256>& bytes, Id unk,
                                       bool byte_fallback)
    : unk_(unk),
      byte_fallback_(byte_fallback),
      lane_rules_(rules.lane_rules()),
      byte_ids_(bytes),
      characters_(std::move(rules.characters)),
      known_(std::move(rules.known)),
      parts_(std::move(rules.parts)),
      lengths_(std::move(rules.lengths)),
      pairs_(std::move(rules.pairs), rules.starts, rules.symbols),
      user_defined_(rules.user_defined) {
    for (std::uint32_t left = 0; left < kAscii; ++left) {
        for (std::uint32_t right = 0; right < kAscii; ++right) {
            ascii_pairs_.push_back(pairs_.find(characters_[left], characters_[right]));
        }
    }
    for (const ByteTrie::Entry& entry : rules.user_defined) {
        starts_user_defined_[static_cast<std::uint8_t>(entry.bytes[0])] = true;
    }
    if (byte_fallback && std::ranges::find(byte_ids_, kNone) != byte_ids_.end()) {
        throw std::invalid_argument("byte_fallback lacks the piece of a byte");
    }
}

std::optional<Id> SentencePieceModel::lane_symbol(const std::uint8_t* character,
                                                  std::size_t size) const {
    const utf8::Char found = utf8::decode(character, character + size);
    if (found.size != size || starts_user_defined_[*character]) return {};
    const Id symbol = characters_[found.code];
    if (symbol != kNone) return known_[symbol] ? std::optional(symbol) : std::nullopt;
    if (!byte_fallback_ || size != 1) return {};
    const Id byte = byte_ids_[*character];  // a byte token never merges, but its piece might
    return known_[byte] || parts_.contains(byte) ? std::nullopt : std::optional(byte);
}

std::unique_ptr<Model::Scratch> SentencePieceModel::scratch() const {
    return std::make_unique<Scratch>();
}

void SentencePieceModel::encode_chunk(const std::uint8_t* chunk, std::size_t size,
                                      Model::Scratch& scratch, IdArray& out, IdArray* spans) const {
    check_chunk_size(size);
    Reader(*this, chunk, static_cast<Scratch&>(scratch), out, spans).read(size);
}

}  // namespace toksmith::bpe

#include "models/bpe/character_model.hpp"

#include <algorithm>
#include <iterator>
#include <numeric>
#include <stdexcept>
#include <string_view>

#include "utf8/decode.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::bpe {
namespace {

constexpr std::size_t kFirst = 1, kLast = 2;

// The code point of a text of one character, or utf8::kInvalid for any other text.
std::uint32_t only_character(std::string_view text) {
    if (text.empty()) return utf8::kInvalid;
    const auto* bytes = reinterpret_cast<const std::uint8_t*>(text.data());
    const utf8::Char found = utf8::decode(bytes, bytes + text.size());
    return found.size == text.size() ? found.code : utf8::kInvalid;
}

}  // namespace

// Converts the characters of a chunk to symbols, and merges them run by run. A run ends between two
// symbols that no merge reaches across.
class CharacterModel::Reader {
 public:
    Reader(const CharacterModel& model, Scratch& scratch, IdArray& out, IdArray* spans)
        : model_(model), run_(scratch.run), places_(scratch.spans), out_(out), spans_(spans) {
        run_.clear();
        places_.clear();
    }

    void read(const std::uint8_t* chunk, std::size_t size) {
        const bool by_place = !model_.options_.prefix.empty() || !model_.options_.suffix.empty();
        InterruptionPoints<std::size_t{1} << 16> points;
        for (std::size_t start = 0; start < size;) {
            points.step();
            const utf8::Char found = utf8::decode(chunk + start, chunk + size);
            const std::size_t end = start + found.size;
            const std::size_t place =
                by_place ? (start == 0 ? kFirst : 0) + (end == size ? kLast : 0) : 0;
            const Span span{static_cast<std::uint32_t>(start), static_cast<std::uint32_t>(end)};
            const Id id = model_.characters_[place][found.code];
            if (id != kNone) {
                push_unknown();
                push(id, span);
            } else if (!model_.options_.byte_fallback || !push_bytes(chunk, span, place)) {
                unknown(span);
            }
            start = end;
        }
        push_unknown();
        flush();
    }

 private:
    void push(Id id, Span span) {
        if (!run_.ids.empty()) {
            const Merge merge = model_.pairs_.find(run_.ids.back(), id);
            if (model_.pairs_.never_merges(merge)) {
                flush();
            } else {
                run_.merges.push_back(merge);
            }
        }
        run_.ids.push_back(id);
        places_.push_back(span);
    }

    // Delays an unknown character until the next character is read, since two unknown ones may
    // fuse.
    void unknown(Span span) {
        if (model_.options_.unk == kNone) return;
        if (has_unknown_ && model_.options_.fuse_unk) {
            unknown_.end = span.end;
            return;
        }
        push_unknown();
        unknown_ = span;
        has_unknown_ = true;
    }

    void push_unknown() {
        if (!has_unknown_) return;
        has_unknown_ = false;
        push(model_.options_.unk, unknown_);
    }

    // Pushes the byte tokens of a character, with those of its prefix and suffix, whose spans are
    // empty. Returns false if one of the bytes has no token.
    bool push_bytes(const std::uint8_t* chunk, Span span, std::size_t place) {
        const Options& options = model_.options_;
        const std::string_view prefix = place & kFirst ? std::string_view() : options.prefix;
        const std::string_view suffix = place & kLast ? options.suffix : std::string_view();
        const std::string_view text(reinterpret_cast<const char*>(chunk) + span.start,
                                    span.end - span.start);
        const auto id = [&](char byte) {
            return model_.byte_ids_[static_cast<std::uint8_t>(byte)];
        };
        for (const std::string_view part : {prefix, text, suffix}) {
            for (const char byte : part) {
                if (id(byte) == kNone) return false;
            }
        }
        for (const char byte : prefix) push(id(byte), {span.start, span.start});
        for (std::uint32_t i = 0; i < text.size(); ++i) {
            push(id(text[i]), {span.start + i, span.start + i + 1});
        }
        for (const char byte : suffix) push(id(byte), {span.end, span.end});
        return true;
    }

    void flush() {
        if (run_.ids.empty()) return;
        run_.merge(model_.pairs_.table(), spans_ != nullptr);
        out_.append(run_.ids.data(), run_.ids.size());
        for (std::size_t i = 0; spans_ && i < run_.ids.size(); ++i) {
            spans_->push(places_[run_.first[i]].start);
            spans_->push(places_[run_.first[i + 1] - 1].end);
        }
        run_.clear();
        places_.clear();
    }

    const CharacterModel& model_;
    SymbolRun& run_;
    std::vector<Span>& places_;
    IdArray& out_;
    IdArray* spans_;
    Span unknown_{0, 0};
    bool has_unknown_ = false;
};

CharacterModel::CharacterModel(Vocabulary vocabulary, const std::vector<MergeRule>& merges,
                               Options options)
    : vocabulary_(std::move(vocabulary)),
      options_(std::move(options)),
      byte_ids_(byte_ids(vocabulary_)),
      pairs_(pairs_of(merges)),
      merges_characters_(merges_characters(merges)) {
    if (options_.whole_chunk_first) whole_ = TokenIndex(vocabulary_);
}

SymbolPairs CharacterModel::pairs_of(const std::vector<MergeRule>& merges) {
    const std::size_t ids = vocabulary_.size();
    std::vector<Id> starts;
    if (options_.unk != kNone) {
        if (options_.unk >= ids) throw std::invalid_argument("the unknown token has no such id");
        starts.push_back(options_.unk);
    }
    if (options_.byte_fallback) {
        std::ranges::copy_if(byte_ids_, std::back_inserter(starts),
                             [](Id id) { return id != kNone; });
    }
    const bool by_place = !options_.prefix.empty() || !options_.suffix.empty();
    for (std::size_t place = 0; place < (by_place ? characters_.size() : 1); ++place) {
        const std::string_view prefix = place & kFirst ? std::string_view() : options_.prefix;
        const std::string_view suffix = place & kLast ? options_.suffix : std::string_view();
        for (std::size_t i = ids; i-- > 0;) {  // if tokens are equal, the lowest id counts
            std::string_view token = vocabulary_[static_cast<Id>(i)];
            if (token.size() < prefix.size() + suffix.size() || !token.starts_with(prefix) ||
                !token.ends_with(suffix)) {
                continue;
            }
            token.remove_prefix(prefix.size());
            token.remove_suffix(suffix.size());
            const std::uint32_t code = only_character(token);
            if (code == utf8::kInvalid) continue;
            characters_[place].set(code, static_cast<Id>(i));
            starts.push_back(static_cast<Id>(i));
        }
    }
    std::vector<SymbolRule> rules;
    rules.reserve(merges.size());
    for (std::size_t rank = 0; rank < merges.size(); ++rank) {
        const MergeRule& merge = merges[rank];
        rules.push_back({merge.left, merge.right, {static_cast<std::uint32_t>(rank), merge.id}});
    }
    return SymbolPairs(std::move(rules), starts, ids);
}

bool CharacterModel::merges_characters(const std::vector<MergeRule>& merges) const {
    std::vector<bool> is_other(vocabulary_.size());
    if (options_.unk != kNone) is_other[options_.unk] = true;
    for (const Id id : byte_ids_) {
        if (id != kNone) is_other[id] = true;
    }
    return std::ranges::all_of(merges, [&](const MergeRule& merge) {
        const std::string_view left = vocabulary_[merge.left], right = vocabulary_[merge.right];
        const std::string_view made = vocabulary_[merge.id];
        return !is_other[merge.left] && !is_other[merge.right] &&
               made.size() == left.size() + right.size() && made.starts_with(left) &&
               made.ends_with(right);
    });
}

bool CharacterModel::spell(Id id, std::vector<Id>& symbols) const {
    symbols.clear();
    const std::string_view token = vocabulary_[id];
    const auto* text = reinterpret_cast<const std::uint8_t*>(token.data());
    for (const auto* end = text + token.size(); text < end;) {
        const utf8::Char found = utf8::decode(text, end);
        const Id symbol = found.code == utf8::kInvalid ? kNone : characters_[0][found.code];
        if (symbol == kNone) return false;
        symbols.push_back(symbol);
        text += found.size;
    }
    return true;
}

// A file may list all pairs that form a token. Only one of them ever merges, because the characters
// of the token always merge in the same order; lanes need that pair alone.
std::vector<LaneMergeRule> CharacterModel::lane_rules() const {
    if (!merges_characters_ || options_.whole_chunk_first || !options_.prefix.empty() ||
        !options_.suffix.empty()) {
        return {};
    }
    std::vector<Id> by_length(vocabulary_.size());
    std::iota(by_length.begin(), by_length.end(), Id{0});
    std::ranges::stable_sort(by_length, {}, [&](Id id) { return vocabulary_.length(id); });
    std::vector<LaneMergeRule> rules;
    PairTable found(vocabulary_.size());  // the merges of all tokens that can occur in the next one
    SymbolRun run;
    for (const Id id : by_length) {
        run.clear();
        if (!spell(id, run.ids) || run.ids.size() < 2) continue;
        for (std::size_t i = 0; i + 1 < run.ids.size(); ++i)
            run.merges.push_back(found.find(run.ids[i], run.ids[i + 1]));
        run.merge(found, false);
        if (run.ids.size() != 2) continue;
        const Merge merge = pairs_.find(run.ids[0], run.ids[1]);
        if (merge.rank >= kMayReachAcross || merge.id != id) continue;
        found.insert(run.ids[0], run.ids[1], merge);
        rules.push_back({run.ids[0], run.ids[1], id, merge.rank});
    }
    return rules;
}

std::optional<Id> CharacterModel::lane_symbol(const std::uint8_t* character,
                                              std::size_t size) const {
    const utf8::Char found = utf8::decode(character, character + size);
    if (found.size != size) return {};
    const Id symbol = characters_[0][found.code];
    if (symbol != kNone) return symbol;
    if (!options_.byte_fallback || size != 1 || byte_ids_[*character] == kNone) return {};
    return byte_ids_[*character];
}

std::unique_ptr<Model::Scratch> CharacterModel::scratch() const {
    return std::make_unique<Scratch>();
}

void CharacterModel::encode_chunk(const std::uint8_t* chunk, std::size_t size,
                                  Model::Scratch& scratch, IdArray& out, IdArray* spans) const {
    check_chunk_size(size);
    const Id whole = whole_.find(vocabulary_, chunk, size);
    if (whole == TokenIndex::kNone) {
        Reader(*this, static_cast<Scratch&>(scratch), out, spans).read(chunk, size);
        return;
    }
    out.push(whole);
    if (!spans) return;
    spans->push(0);
    spans->push(static_cast<Id>(size));
}

}  // namespace toksmith::bpe

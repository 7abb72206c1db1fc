#include "models/wordpiece.hpp"

#include <stdexcept>
#include <string_view>
#include <utility>

#include "base/stop.hpp"

namespace toksmith::wordpiece {
namespace {

// The first bytes of all texts of the two tries. Neither byte occurs in UTF-8.
constexpr char kStartLead = '\xFE', kInsideLead = '\xFF';
constexpr std::uint32_t kEmpty = 0;

void push_span(IdArray* spans, std::size_t start, std::size_t end) {
    if (!spans) return;
    spans->push(static_cast<Id>(start));
    spans->push(static_cast<Id>(end));
}

}  // namespace

LongestMatchModel::LongestMatchModel(const Vocabulary& vocabulary, Options options)
    : options_(std::move(options)) {
    if (options_.unk == kNone ? options_.whole_unknown : options_.unk >= vocabulary.size()) {
        throw std::invalid_argument("the unknown token is not in the vocabulary");
    }
    const std::vector<Text> texts = texts_of(vocabulary);
    std::vector<ByteTrie::Entry> entries;
    for (const Text& text : texts) entries.push_back({text.bytes, text.id});
    trie_ = ByteTrie(std::move(entries));
    const auto root = [this](char lead) {
        State state{0, trie_.root()};
        trie_.step(state.node, static_cast<std::uint8_t>(lead), state.place);
        return state.place;
    };
    start_ = root(kStartLead);
    inside_ = options_.prefix.empty() ? start_ : root(kInsideLead);
    link_all(texts);
}

// The texts of both tries: all tokens and, if there is a prefix, tokens without the prefix. Tokens
// that are invalid UTF-8 match nothing. A text of the first byte alone makes the root, even if
// there is no token.
std::vector<LongestMatchModel::Text> LongestMatchModel::texts_of(
    const Vocabulary& vocabulary) const {
    const std::string& prefix = options_.prefix;
    std::vector<Text> texts{{{kStartLead}, kNone}};
    if (!prefix.empty()) texts.push_back({{kInsideLead}, kNone});
    for (Id id = 0; id < vocabulary.size(); ++id) {
        const std::string_view token = vocabulary[id];
        if (token.empty()) continue;
        if (utf8::is_valid(token)) texts.push_back({kStartLead + std::string(token), id});
        if (prefix.empty() || token.size() <= prefix.size() || !token.starts_with(prefix)) continue;
        const std::string_view rest = token.substr(prefix.size());
        if (utf8::is_valid(rest)) texts.push_back({kInsideLead + std::string(rest), id});
    }
    return texts;
}

// Computes the links of all nodes, ordered by depth in characters: a link depends on those of the
// parent and of shorter texts.
void LongestMatchModel::link_all(const std::vector<Text>& texts) {
    tokens_.push_back({kEmpty, 0, 0, kNone});
    links_.assign(trie_.places(), {kNone, kEmpty});
    std::vector<bool> is_linked(trie_.places());
    struct Walk {
        const Text* text;
        std::size_t size;  // bytes that were read
        State state;
    };
    std::vector<Walk> walks;
    for (const Text& text : texts) {
        walks.push_back({&text, 1, at(text.bytes[0] == kStartLead ? start_ : inside_)});
    }
    while (!walks.empty()) {
        std::erase_if(walks, [](const Walk& walk) { return walk.size == walk.text->bytes.size(); });
        for (auto& [text, size, state] : walks) {
            const auto* const begin = reinterpret_cast<const std::uint8_t*>(text->bytes.data());
            const std::uint8_t* const p = begin + size;
            const utf8::Char c = utf8::decode(p, begin + text->bytes.size());
            const std::size_t parent = state.place;
            step(state, p, c);
            size += c.size;
            if (is_linked[state.place]) continue;
            is_linked[state.place] = true;
            const Id id = trie_.has_token(state.place) ? trie_.token(state.place) : kNone;
            if (id == kNone || (id == options_.unk && !options_.whole_unknown)) {
                links_[state.place] = link(parent, p, c);
            } else {
                links_[state.place] = {static_cast<std::uint32_t>(inside_),
                                       extended(kEmpty, id, size - 1)};
            }
        }
    }
}

// The link of a node at which no token ends: that of its parent, extended by the character at p.
LongestMatchModel::Link LongestMatchModel::link(std::size_t parent, const std::uint8_t* p,
                                                utf8::Char c) {
    auto [rest, tokens] = links_[parent];
    while (rest != kNone) {
        State state = at(rest);
        if (step(state, p, c)) return {static_cast<std::uint32_t>(state.place), tokens};
        tokens = joined(tokens, links_[rest].tokens);
        rest = links_[rest].rest;
    }
    if (options_.whole_unknown) return {kNone, kEmpty};
    return {static_cast<std::uint32_t>(inside_), extended(tokens, options_.unk, c.size)};
}

std::uint32_t LongestMatchModel::extended(std::uint32_t list, Id id, std::size_t bytes) {
    const Token& last = tokens_[list];
    tokens_.push_back({list, last.count + 1, last.end + static_cast<std::uint32_t>(bytes), id});
    return static_cast<std::uint32_t>(tokens_.size() - 1);
}

std::uint32_t LongestMatchModel::joined(std::uint32_t list, std::uint32_t more) {
    std::vector<std::uint32_t> back;
    for (; more != kEmpty; more = tokens_[more].before) back.push_back(more);
    for (; !back.empty(); back.pop_back()) {
        const Token& token = tokens_[back.back()];
        list = extended(list, token.id, token.end - tokens_[token.before].end);
    }
    return list;
}

void LongestMatchModel::encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch&,
                                     IdArray& out, IdArray* spans) const {
    if (size == 0) return;
    const std::size_t first = out.size(), first_span = spans ? spans->size() : 0;
    if (!match(chunk, size, out, spans)) {
        out.resize(first);
        if (spans) spans->resize(first_span);
        out.push(options_.unk);
        push_span(spans, 0, size);
    } else if (options_.fuse_unk || options_.unk == kNone) {
        tidy(out, first, spans, first_span);
    }
}

bool LongestMatchModel::step(State& state, const std::uint8_t* p, utf8::Char c) const {
    if (c.code == utf8::kInvalid) return false;
    State next = state;
    for (std::uint32_t i = 0; i < c.size; ++i) {
        if (!trie_.step(next.node, p[i], next.place)) return false;
    }
    state = next;
    return true;
}

// Appends the tokens of the chunk. Returns false if the whole chunk is unknown.
bool LongestMatchModel::match(const std::uint8_t* chunk, std::size_t size, IdArray& out,
                              IdArray* spans) const {
    State state = at(start_);
    std::size_t start = 0, characters = 0;  // `start`: the start of the characters of `state`
    InterruptionPoints<std::size_t{1} << 16> points;
    for (std::size_t i = 0; i < size; ++characters) {
        points.step();
        if (characters == options_.max_characters) return false;
        const utf8::Char c = utf8::decode(chunk + i, chunk + size);
        bool known = step(state, chunk + i, c);
        while (!known && links_[state.place].rest != kNone) {
            start = append(links_[state.place].tokens, start, out, spans);
            state = at(links_[state.place].rest);
            known = step(state, chunk + i, c);
        }
        i += c.size;
        if (!known) {
            if (options_.whole_unknown) return false;
            out.push(options_.unk);
            push_span(spans, start, i);
            start = i;
            state = at(inside_);
        }
    }
    for (std::size_t place = state.place; place != inside_; place = links_[place].rest) {
        if (links_[place].rest == kNone) return false;
        start = append(links_[place].tokens, start, out, spans);
    }
    return true;
}

// Appends the tokens of a list, which cover the chunk from byte `start` on. Returns the end of the
// last.
std::size_t LongestMatchModel::append(std::uint32_t list, std::size_t start, IdArray& out,
                                      IdArray* spans) const {
    const std::size_t count = tokens_[list].count;
    Id* ids = out.extend(count);
    Id* places = spans ? spans->extend(2 * count) : nullptr;
    const std::size_t end = start + tokens_[list].end;
    for (std::size_t i = count; i-- > 0; list = tokens_[list].before) {
        const Token& token = tokens_[list];
        ids[i] = token.id;
        if (!places) continue;
        places[2 * i] = static_cast<Id>(start + tokens_[token.before].end);
        places[2 * i + 1] = static_cast<Id>(start + token.end);
    }
    return end;
}

// Fuses adjacent unknown tokens, or drops them if there is no unknown token.
void LongestMatchModel::tidy(IdArray& out, std::size_t first, IdArray* spans,
                             std::size_t first_span) const {
    const std::size_t count = out.size() - first;
    Id* const ids = out.data() + first;
    Id* const places = spans ? spans->data() + first_span : nullptr;
    std::size_t kept = 0;
    for (std::size_t i = 0; i < count; ++i) {
        if (ids[i] == options_.unk) {
            if (options_.unk == kNone) continue;
            if (kept > 0 && ids[kept - 1] == options_.unk) {
                if (places) places[2 * kept - 1] = places[2 * i + 1];
                continue;
            }
        }
        ids[kept] = ids[i];
        if (places) {
            places[2 * kept] = places[2 * i];
            places[2 * kept + 1] = places[2 * i + 1];
        }
        ++kept;
    }
    out.resize(first + kept);
    if (spans) spans->resize(first_span + 2 * kept);
}

void WordLevelModel::encode_chunk(const std::uint8_t* chunk, std::size_t size, Scratch&,
                                  IdArray& out, IdArray* spans) const {
    const Id found = index_.find(vocabulary_, chunk, size);
    const Id id = found == TokenIndex::kNone ? unk_ : found;
    if (id == kNone) return;
    out.push(id);
    push_span(spans, 0, size);
}

}  // namespace toksmith::wordpiece

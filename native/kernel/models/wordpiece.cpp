#include "models/wordpiece.hpp"

#include <stdexcept>

#include "base/stop.hpp"
#include "utf8/encode.hpp"

namespace toksmith::wordpiece {
namespace {

// In the tree of characters, the root of what starts a chunk; that of other tokens is behind it.
constexpr Node kStart = 0;
// In the tree of bytes, bytes that are in no character lead to the two.
constexpr char kLeads[] = {'\xFE', '\xFF'};
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
    Trees both = trees(vocabulary);
    const Trie trie(both);
    place_all(both, trie, link_all(vocabulary, trie, static_cast<Node>(both.size() - 1)));
}

// All tokens; and, where there is a prefix, what is behind it.
LongestMatchModel::Trees LongestMatchModel::trees(const Vocabulary& vocabulary) const {
    Trees trees(options_.prefix.empty() ? 1 : 2);
    for (std::size_t i = 0; i < vocabulary.size(); ++i) {
        const auto id = static_cast<Id>(i);
        const std::string_view token = vocabulary[id];
        if (token.empty()) continue;
        trees.front().push_back({token, id});
        if (trees.size() > 1 && token.size() > options_.prefix.size() &&
            token.starts_with(options_.prefix)) {
            trees.back().push_back({token.substr(options_.prefix.size()), id});
        }
    }
    return trees;
}

std::vector<LongestMatchModel::Link> LongestMatchModel::link_all(const Vocabulary& vocabulary,
                                                                 const Trie& trie, Node inside) {
    const std::size_t prefix = options_.prefix.size();
    tokens_.push_back({kEmpty, 0, 0, kNone});
    std::vector<Link> links(trie.size(), {kNone, kEmpty});
    // Parents come before their children, and the rest of a text is shorter than the text.
    std::vector<bool> starts(trie.size());
    starts[kStart] = true;
    for (Node parent = 0; parent < trie.size(); ++parent) {
        const auto [first, last] = trie.children(parent);
        for (Node node = first; node < last; ++node) {
            starts[node] = starts[parent];
            const Id id = trie.tokens()[node];
            if (id == kNone || (id == options_.unk && !options_.whole_unknown)) {
                links[node] = link(trie, links, parent, node, inside);
            } else {
                const std::size_t bytes = vocabulary.length(id) - (starts[node] ? 0 : prefix);
                links[node] = {inside, extended(kEmpty, id, bytes)};
            }
        }
    }
    return links;
}

// Makes the tree of bytes, and takes the links over to it.
void LongestMatchModel::place_all(const Trees& trees, const Trie& trie,
                                  const std::vector<Link>& links) {
    std::vector<std::string> texts;
    for (std::size_t root = 0; root < trees.size(); ++root) {
        texts.emplace_back(1, kLeads[root]);  // a root, even if there is no token
        for (const Trie::Entry& entry : trees[root]) {
            texts.push_back(kLeads[root] + std::string(entry.text));
        }
    }
    std::vector<ByteTrie::Entry> entries;
    for (const std::string& text : texts) entries.push_back({text, 0});
    trie_ = ByteTrie(std::move(entries));

    std::vector<State> states(trie.size(), {0, trie_.root()});
    for (Node root = 0; root < trees.size(); ++root) {
        trie_.step(states[root].node, static_cast<std::uint8_t>(kLeads[root]), states[root].place);
    }
    for (Node parent = 0; parent < trie.size(); ++parent) {
        const auto [first, last] = trie.children(parent);
        for (Node node = first; node < last; ++node) {
            std::uint8_t bytes[utf8::kMostBytes];
            const std::uint32_t size = utf8::encode(trie.code(node), bytes);
            states[node] = states[parent];
            step(states[node], bytes, {trie.code(node), size});
        }
    }
    start_ = states[kStart].place;
    inside_ = states[trees.size() - 1].place;
    links_.assign(trie_.places(), {kNone, kEmpty});
    for (Node node = 0; node < trie.size(); ++node) {
        const auto [rest, tokens] = links[node];
        links_[states[node].place] = {
            rest == kNone ? kNone : static_cast<std::uint32_t>(states[rest].place), tokens};
    }
}

// The link of a node where no token ends: its parent's, gone on with by one character.
LongestMatchModel::Link LongestMatchModel::link(const Trie& trie, const std::vector<Link>& links,
                                                Node parent, Node node, Node inside) {
    const std::uint32_t code = trie.code(node);
    auto [rest, tokens] = links[parent];
    while (rest != kNone) {
        const Node next = trie.child(rest, code);
        if (next != kNone) return {next, tokens};
        tokens = joined(tokens, links[rest].tokens);
        rest = links[rest].rest;
    }
    if (options_.whole_unknown) return {kNone, kEmpty};
    return {inside, extended(tokens, options_.unk, utf8::size_of(code))};
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

// Appends the tokens of the chunk; false where it is unknown as a whole.
bool LongestMatchModel::match(const std::uint8_t* chunk, std::size_t size, IdArray& out,
                              IdArray* spans) const {
    State state = at(start_);
    std::size_t start = 0, characters = 0;  // `start`: where the characters of the state start
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

// Appends the tokens of a list whose bytes start at `start`; returns where they end.
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

// Fuses unknown tokens that stand side by side, or drops them where there is no unknown token.
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

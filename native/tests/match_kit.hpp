// Longest match by trying all ends at all places. The kernel's one-pass algorithm must agree with
// it.
#pragma once

#include "kit.hpp"
#include "models/wordpiece.hpp"
#include "utf8/decode.hpp"

namespace toksmith::test {

struct Found {
    std::vector<Id> ids;
    std::vector<Id> spans;
    bool operator==(const Found&) const = default;
};

class SlowMatcher {
 public:
    SlowMatcher(const std::vector<std::string>& tokens, const wordpiece::Options& options)
        : options_(options) {
        for (std::size_t i = tokens.size(); i-- > 0;) {
            if (!tokens[i].empty() && utf8::is_valid(tokens[i]))
                ids_[tokens[i]] = static_cast<Id>(i);
            longest_ = std::max(longest_, tokens[i].size());
        }
    }

    Found operator()(Text chunk) const {
        const std::string text(chunk.begin, chunk.end);
        std::vector<std::size_t> places{0};
        while (places.back() < text.size()) {
            const auto* at = chunk.begin + places.back();
            places.push_back(places.back() + utf8::decode(at, chunk.end).size);
        }
        const Found whole{{options_.unk}, {0, static_cast<Id>(text.size())}};
        if (places.size() - 1 > options_.max_characters) return whole;
        Found found;
        std::size_t at = 0;
        bool unknown_before = false;
        while (at + 1 < places.size()) {
            std::size_t to = places.size() - 1;
            Id id = wordpiece::kNone;
            for (; to > at; --to) {
                if (places[to] - places[at] > longest_) continue;
                const std::string piece = text.substr(places[at], places[to] - places[at]);
                const auto token = ids_.find(at ? options_.prefix + piece : piece);
                if (token == ids_.end() || !is_text(token->second)) continue;
                id = token->second;
                break;
            }
            const bool unknown = id == wordpiece::kNone;
            if (unknown && options_.whole_unknown) return whole;
            if (unknown) to = at + 1, id = options_.unk;
            if (unknown && unknown_before && options_.fuse_unk && id != wordpiece::kNone) {
                found.spans.back() = static_cast<Id>(places[to]);
            } else if (id != wordpiece::kNone) {
                found.ids.push_back(id);
                found.spans.push_back(static_cast<Id>(places[at]));
                found.spans.push_back(static_cast<Id>(places[to]));
            }
            unknown_before = unknown;
            at = to;
        }
        return found;
    }

 private:
    bool is_text(Id id) const { return options_.whole_unknown || id != options_.unk; }
    wordpiece::Options options_;
    std::map<std::string, Id> ids_;
    std::size_t longest_ = 0;  // bytes of a token
};

// Random options for a vocabulary whose first token is the unknown one.
inline wordpiece::Options random_options(Random& random) {
    static const char* const kPrefixes[] = {"", "##", "a", "é"};
    if (random.below(2)) {
        return {.prefix = kPrefixes[random.below(4)],
                .unk = 0,
                .whole_unknown = true,
                .max_characters = random.below(3) ? 100 : random.below(20)};
    }
    return {.unk = random.below(3) ? 0 : wordpiece::kNone, .fuse_unk = random.below(2) == 1};
}

// Random slices of a text as tokens, some with the prefix before them. They may end inside a
// character.
inline std::vector<std::string> random_tokens(Random& random, Text text,
                                              const std::string& prefix) {
    std::vector<std::string> tokens{"<?>"};
    for (std::size_t count = random.below(40); count-- > 0 && text.size() > 0;) {
        const std::size_t start = random.below(text.size());
        const std::size_t most = std::min<std::size_t>(text.size() - start, 12);
        const std::string piece(text.begin + start, text.begin + start + random.below(most + 1));
        tokens.push_back(random.below(2) ? prefix + piece : piece);
    }
    return tokens;
}

inline void check_match(const std::vector<std::string>& tokens, const wordpiece::Options& options,
                        Text chunk) {
    const wordpiece::LongestMatchModel model(vocabulary(tokens), options);
    IdArray ids, spans;
    ids.push(7);  // encode_chunk() must not change ids that are already there
    model.encode_chunk(chunk.begin, chunk.size(), *model.scratch(), ids, &spans);
    const Found expected = SlowMatcher(tokens, options)(chunk);
    CHECK(ids.data()[0] == 7);
    CHECK(std::vector<Id>(ids.data() + 1, ids.data() + ids.size()) == expected.ids);
    CHECK(list(spans) == expected.spans);
}

}  // namespace toksmith::test

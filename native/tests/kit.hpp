// Shared by tests and fuzz targets: random texts and models, and slow reference implementations.
#pragma once

#include <algorithm>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "check.hpp"
#include "encode/decoder.hpp"
#include "encode/encoder.hpp"
#include "models/bpe/merging.hpp"
#include "models/bpe/model.hpp"
#include "training/bpe/trainer.hpp"

namespace toksmith::test {

// Of exact size, so that sanitizers detect reads beyond the end.
using Bytes = std::vector<std::uint8_t>;

inline Bytes bytes_of(std::string_view text) { return {text.begin(), text.end()}; }
inline Text text_of(const Bytes& bytes) { return {bytes.data(), bytes.data() + bytes.size()}; }
inline std::vector<Id> list(const IdArray& ids) { return {ids.data(), ids.data() + ids.size()}; }

// A random generator that is the same on every machine (SplitMix64).
struct Random {
    std::uint64_t state;
    std::span<const std::uint8_t> given{};  // below() takes these bytes first

    std::uint64_t next() {
        std::uint64_t z = state += 0x9E3779B97F4A7C15ULL;
        z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ULL;
        z = (z ^ z >> 27) * 0x94D049BB133111EBULL;
        return z ^ z >> 31;
    }
    std::size_t below(std::size_t limit) {
        if (given.empty()) return next() % limit;
        std::size_t value = 0;
        for (std::size_t most = 1; most < limit && !given.empty(); most <<= 8) {
            value = value << 8 | given.front();
            given = given.subspan(1);
        }
        return value % limit;
    }
};

inline std::vector<isa::Level> levels() {
    std::vector<isa::Level> result;
    for (int i = 0; i < isa::kLevels; ++i) {
        const auto level = static_cast<isa::Level>(i);
        if (isa::is_available(level)) result.push_back(level);
    }
    return result;
}

// The end of each chunk of the text, as an offset in bytes.
inline std::vector<std::uint64_t> chunk_ends(Family family, isa::Level level, Text text) {
    const FindChunks find_chunks = find_chunks_of(family, level);
    std::vector<std::uint64_t> result;
    const std::uint8_t* ends[kMostEnds];
    for (const std::uint8_t* p = text.begin; p < text.end;) {
        const auto [count, last] = find_chunks(p, text.end, ends);
        for (std::size_t i = 0; i < count; ++i) {
            result.push_back(static_cast<std::uint64_t>(ends[i] - text.begin));
        }
        p = last;
    }
    return result;
}

// Concatenates strings that are edge cases of the patterns or of UTF-8.
inline Bytes random_text(Random& random, std::size_t pieces) {
    static const std::string_view kPieces[] = {"a",
                                               "B",
                                               "of",
                                               "The",
                                               " ",
                                               "  ",
                                               "   ",
                                               "\n",
                                               "\r\n",
                                               "\t",
                                               "'s",
                                               "'LL",
                                               "'",
                                               "'r",
                                               "1",
                                               "2345",
                                               "٣",
                                               "½",
                                               "é",
                                               "Ж",
                                               "ж",
                                               "中",
                                               "国",
                                               "한",
                                               "\u0301",
                                               "e\u0301",
                                               "ʰ",
                                               "ǅ",
                                               "\u00A0",
                                               "\u3000",
                                               "ſ",
                                               "😀",
                                               "/",
                                               "!",
                                               "_, ",
                                               "\xFF",
                                               "\xE2\x82",
                                               "\xC0\x80",
                                               "\xED\xA0\x80",
                                               "\xF0\x9F",
                                               "\xF4\x90\x80\x80",
                                               "<|endoftext|>",
                                               "\u2028"};
    Bytes text;
    for (std::size_t i = 0; i < pieces; ++i) {
        const std::size_t choice = random.below(std::size(kPieces) + 4);
        if (choice < std::size(kPieces)) {
            text.insert(text.end(), kPieces[choice].begin(), kPieces[choice].end());
        } else if (choice == std::size(kPieces)) {
            text.push_back(static_cast<std::uint8_t>(random.next()));
        } else if (choice == std::size(kPieces) + 1) {  // a few of the pieces in random order
            const std::size_t first = random.below(std::size(kPieces)), kinds = 1 + random.below(5);
            for (std::size_t j = random.below(40); j > 0; --j) {
                const auto& piece = kPieces[(first + random.below(kinds)) % std::size(kPieces)];
                text.insert(text.end(), piece.begin(), piece.end());
            }
        } else {  // a long word, for code that reads many bytes at once
            text.insert(text.end(), random.below(150),
                        static_cast<std::uint8_t>('a' + choice % 26));
        }
    }
    return text;
}

// The characters of a text as an array of one width. Wider characters and invalid UTF-8 are
// dropped.
class Characters {
 public:
    Characters(Text text, utf8::Width width) : width_(width) {
        for (const std::uint8_t* p = text.begin; p < text.end;) {
            const utf8::Char c = utf8::decode(p, text.end);
            if (c.code >> 8 * width_ % 32 == 0 || width_ == utf8::kFourBytes) {
                if (c.code != utf8::kInvalid) push(c.code, {p, p + c.size});
            }
            p += c.size;
        }
    }
    void push(std::uint32_t code, Text bytes = {}) {
        units_.insert(units_.end(), reinterpret_cast<const std::uint8_t*>(&code),
                      reinterpret_cast<const std::uint8_t*>(&code) + width_);
        utf8_.insert(utf8_.end(), bytes.begin, bytes.end);
    }
    InputText source() const { return {units_.data(), units_.size() / width_, width_}; }
    Text utf8() const { return text_of(utf8_); }

 private:
    utf8::Width width_;
    Bytes units_, utf8_;
};

inline constexpr utf8::Width kWidths[] = {utf8::kOneByte, utf8::kTwoBytes, utf8::kFourBytes};

// The bytes of ids, all of which are known.
inline Bytes decoded(const Decoder& decoder, const std::vector<Id>& ids, std::size_t threads) {
    const Decoder::Parts parts = decoder.measure(ids.data(), ids.size(), threads);
    CHECK(parts.known());
    Bytes bytes(parts.bytes());
    decoder.decode(ids.data(), parts, bytes.data());
    return bytes;
}

inline Vocabulary vocabulary(const std::vector<std::string>& tokens) {
    Vocabulary result{{}, {0}};
    for (const std::string& token : tokens) {
        result.bytes.insert(result.bytes.end(), token.begin(), token.end());
        result.offsets.push_back(result.bytes.size());
    }
    return result;
}

inline std::vector<std::string> byte_tokens() {
    std::vector<std::string> tokens;
    for (int byte = 0; byte < 256; ++byte) tokens.emplace_back(1, static_cast<char>(byte));
    return tokens;
}

struct Merges {
    std::vector<std::string> tokens = byte_tokens();
    std::vector<bpe::MergeRule> rules;

    std::shared_ptr<bpe::BpeModel> model(bool whole_chunk_first = false) const {
        return std::make_shared<bpe::BpeModel>(vocabulary(tokens), rules, whole_chunk_first);
    }
};

// Merges each pair that `rule` names, from left to right.
inline void join(std::vector<Id>& ids, const bpe::MergeRule& rule) {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        const bool pair = i + 1 < ids.size() && ids[i] == rule.left && ids[i + 1] == rule.right;
        ids[kept++] = pair ? rule.id : ids[i];
        i += pair;
    }
    ids.resize(kept);
}

// Merges of pairs that occur in the text, so that they apply to it. No two make the same bytes.
inline Merges random_merges(Random& random, Text text, std::size_t count) {
    Merges merges;
    std::vector<Id> ids(text.begin, text.begin + std::min<std::size_t>(text.size(), 400));
    while (count-- > 0 && ids.size() > 1) {
        const std::size_t i = random.below(ids.size() - 1);
        const std::string token = merges.tokens[ids[i]] + merges.tokens[ids[i + 1]];
        if (std::ranges::find(merges.tokens, token) != merges.tokens.end()) continue;
        merges.rules.push_back({ids[i], ids[i + 1], static_cast<Id>(merges.tokens.size())});
        merges.tokens.push_back(token);
        join(ids, merges.rules.back());
    }
    return merges;
}

// Orders the merges as no training would.
inline void shuffle(Random& random, std::vector<bpe::MergeRule>& rules) {
    for (std::size_t i = rules.size(); i > 1; --i) std::swap(rules[i - 1], rules[random.below(i)]);
}

// Merges chunks with all implementations, and checks that their results are equal.
class Merger {
 public:
    explicit Merger(const Merges& merges)
        : vocabulary_(vocabulary(merges.tokens)),
          byte_ids_(bpe::single_bytes(vocabulary_)),
          pairs_(merges.rules.size()) {
        std::uint32_t rank = 0;
        for (const auto& [left, right, id] : merges.rules) pairs_.insert(left, right, {rank++, id});
    }

    std::vector<Id> operator()(Text chunk) const {
        const std::vector<Id> expected = slowly(chunk);
        IdArray ids;
        const bpe::ByteMerges merging{byte_ids_, pairs_, nullptr, vocabulary_};
        bpe::merge_long_bytes(merging, chunk.begin, chunk.size(), ids);
        CHECK(list(ids) == expected, "long");
        if (chunk.size() <= bpe::kShort) {
            ids.clear();
            bpe::merge_short_bytes(merging, chunk.begin, chunk.size(), ids);
            CHECK(list(ids) == expected, "short");
        }
        return expected;
    }

 private:
    // Repeatedly merges the leftmost pair of the lowest rank.
    std::vector<Id> slowly(Text chunk) const {
        std::vector<Id> ids(chunk.begin, chunk.end);
        for (;;) {
            bpe::Merge best{bpe::kNoRank, 0};
            std::size_t place = 0;
            for (std::size_t i = 0; i + 1 < ids.size(); ++i) {
                const bpe::Merge merge = pairs_.find(ids[i], ids[i + 1]);
                if (merge.rank < best.rank) best = merge, place = i;
            }
            if (best.rank == bpe::kNoRank) return ids;
            ids[place] = best.id;
            ids.erase(ids.begin() + static_cast<std::ptrdiff_t>(place) + 1);
        }
    }

    Vocabulary vocabulary_;
    std::array<Id, 256> byte_ids_;
    bpe::PairTable pairs_;
};

// Trains by recounting all pairs for each merge.
inline std::vector<bpe::MergeRule> trained_slowly(const bpe::CountedChunks& chunks,
                                                  std::size_t tokens) {
    std::vector<std::vector<Id>> parts;
    std::uint64_t start = 0;
    for (const std::uint64_t end : chunks.ends) {
        parts.emplace_back(chunks.symbols + start, chunks.symbols + end);
        start = end;
    }
    std::vector<bpe::MergeRule> rules;
    while (rules.size() < tokens) {
        std::map<std::pair<Id, Id>, std::uint64_t> counts;
        std::vector<std::pair<Id, Id>> seen;
        for (std::size_t chunk = 0; chunk < parts.size(); ++chunk) {
            for (std::size_t i = 0; i + 1 < parts[chunk].size(); ++i) {
                const std::pair pair(parts[chunk][i], parts[chunk][i + 1]);
                std::uint64_t& count = counts[pair];
                if (count == 0) seen.push_back(pair);
                count += chunks.counts[chunk];
            }
        }
        if (seen.empty()) break;
        const auto best =
            *std::ranges::max_element(seen, {}, [&](auto pair) { return counts[pair]; });
        rules.push_back({best.first, best.second, static_cast<Id>(256 + rules.size())});
        for (std::vector<Id>& part : parts) join(part, rules.back());
    }
    return rules;
}

inline bool same(const std::vector<bpe::MergeRule>& a, const std::vector<bpe::MergeRule>& b) {
    return std::ranges::equal(a, b, [](const auto& x, const auto& y) {
        return x.left == y.left && x.right == y.right && x.id == y.id;
    });
}

}  // namespace toksmith::test

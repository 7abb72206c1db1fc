// Random vocabularies of pieces, and slow implementations of Unigram and SentencePiece's BPE.
#pragma once

#include <cmath>
#include <optional>

#include "kit.hpp"
#include "models/bpe/sentencepiece_model.hpp"
#include "models/unigram/model.hpp"
#include "utf8/decode.hpp"
#include "vocab/vocabulary.hpp"

namespace toksmith::test {

struct PieceSet {
    std::vector<std::string> texts;
    std::vector<double> scores;
    std::vector<std::uint8_t> types;
    std::map<std::string, Id, std::less<>> ids;  // the first of each text
    bool byte_fallback = false;

    void add(std::string text, double score, PieceType type = PieceType::kNormal) {
        // The types that match text.
        if (type == PieceType::kNormal || type == PieceType::kUserDefined ||
            type == PieceType::kUnused) {
            ids.try_emplace(text, static_cast<Id>(texts.size()));
        }
        texts.push_back(std::move(text));
        scores.push_back(score);
        types.push_back(static_cast<std::uint8_t>(type));
    }
    void add_bytes(PieceType type = PieceType::kByte) {
        byte_fallback = true;
        for (int byte = 0; byte < 256; ++byte) {
            char name[8];
            std::snprintf(name, sizeof name, "<0x%02X>", byte);
            add(name, 0, type);
        }
    }
    PieceType type(Id id) const { return static_cast<PieceType>(types[id]); }
    // The piece of this text, unless its type never matches text.
    std::optional<Id> find(std::string_view text) const {
        const auto found = ids.find(text);
        return found == ids.end() ? std::optional<Id>{} : found->second;
    }
    bpe::SentencePieceModel bpe_model() const {
        const std::vector<float> single(scores.begin(), scores.end());
        return {vocabulary(texts), single, types, 0, byte_fallback};
    }
    unigram::UnigramModel<float> unigram_model() const {
        return {vocabulary(texts), scores, types, {.unk = 0, .byte_fallback = byte_fallback}};
    }
};

// Pieces of whole characters that occur in the text, so that they apply to it.
inline PieceSet random_pieces(Random& random, Text text, std::size_t count) {
    PieceSet pieces;
    pieces.add("<unk>", 0, PieceType::kUnknown);
    if (random.below(3) == 0) pieces.add_bytes();
    const bool ties = random.below(2), all_types = random.below(2);
    while (count-- > 0) {
        const std::uint8_t* p = text.begin + random.below(text.size());
        std::string piece;
        for (std::size_t left = 1 + random.below(6); left > 0 && p < text.end; --left) {
            const utf8::Char found = utf8::decode(p, text.end);
            if (found.code == utf8::kInvalid) break;
            piece.append(reinterpret_cast<const char*>(p), found.size);
            p += found.size;
        }
        if (piece.empty() || std::ranges::find(pieces.texts, piece) != pieces.texts.end()) continue;
        const auto steps = static_cast<double>(random.below(ties ? 4 : 100'000));
        const std::size_t kind = all_types ? random.below(8) : 7;
        pieces.add(piece, ties ? -steps : -steps / 7000,
                   kind == 0   ? PieceType::kUserDefined
                   : kind == 1 ? PieceType::kUnused
                   : kind == 2 ? PieceType::kControl
                               : PieceType::kNormal);
    }
    return pieces;
}

// Ids with their spans: id, start, end.
using Placed = std::vector<std::uint32_t>;

inline Placed placed(const Model& model, Text chunk) {
    IdArray ids, spans;
    const auto scratch = model.scratch();
    model.encode_chunk(chunk.begin, chunk.size(), *scratch, ids, &spans);
    CHECK(spans.size() == 2 * ids.size());
    Placed result;
    for (std::size_t i = 0; i < ids.size(); ++i) {
        result.insert(result.end(), {ids.data()[i], spans.data()[2 * i], spans.data()[2 * i + 1]});
    }
    IdArray again;
    model.encode_chunk(chunk.begin, chunk.size(), *scratch, again, nullptr);
    CHECK(list(again) == list(ids), "without spans");
    return result;
}

inline std::string_view view(Text text) {
    return {reinterpret_cast<const char*>(text.begin), text.size()};
}

// Appends an unknown range: as bytes, or merged into the unknown piece before it.
inline void add_unknown(const PieceSet& pieces, Placed& out, Text chunk, std::uint32_t start,
                        std::uint32_t end, bool& fuses) {
    if (pieces.byte_fallback) {
        for (std::uint32_t i = start; i < end; ++i) {
            out.insert(out.end(), {1u + chunk.begin[i], i, i + 1});
        }
    } else if (fuses) {
        out.back() = end;
    } else {
        out.insert(out.end(), {0u, start, end});
        fuses = true;
    }
}

inline Placed bpe_slowly(const PieceSet& pieces, Text chunk) {
    struct Symbol {
        std::uint32_t start, end;
        bool frozen;
        std::vector<Symbol> parts;
        std::optional<float> score{};  // of the piece that it and the next symbol make
    };
    const std::string_view text = view(chunk);
    const auto text_of_pair = [&](const Symbol& left, const Symbol& right) {
        return text.substr(left.start, right.end - left.start);
    };
    std::vector<Id> user_defined;
    for (Id id = 0; id < pieces.texts.size(); ++id) {
        if (pieces.type(id) == PieceType::kUserDefined) user_defined.push_back(id);
    }
    std::vector<Symbol> symbols;
    for (std::uint32_t start = 0; start < text.size();) {
        std::size_t longest = 0;
        for (const Id id : user_defined) {
            if (text.substr(start).starts_with(pieces.texts[id]))
                longest = std::max(longest, pieces.texts[id].size());
        }
        const std::size_t size =
            longest ? longest : utf8::decode(chunk.begin + start, chunk.end).size;
        symbols.push_back({start, start + static_cast<std::uint32_t>(size), longest > 0, {}});
        start = symbols.back().end;
    }
    const auto rate = [&](std::size_t i) {
        symbols[i].score.reset();
        if (i + 1 == symbols.size() || symbols[i].frozen || symbols[i + 1].frozen) return;
        if (const auto id = pieces.find(text_of_pair(symbols[i], symbols[i + 1])))
            symbols[i].score = static_cast<float>(pieces.scores[*id]);
    };
    for (std::size_t i = 0; i < symbols.size(); ++i) rate(i);
    for (;;) {
        const auto left = std::ranges::max_element(symbols, {}, &Symbol::score);
        if (left == symbols.end() || !left->score) break;
        *left = {left->start, left[1].end, false, {*left, left[1]}};
        symbols.erase(left + 1);
        const auto i = static_cast<std::size_t>(left - symbols.begin());
        rate(i);
        if (i > 0) rate(i - 1);
    }
    Placed out;
    bool fuses = false;
    std::reverse(symbols.begin(), symbols.end());
    while (!symbols.empty()) {
        const Symbol symbol = symbols.back();
        symbols.pop_back();
        const auto id = pieces.find(text.substr(symbol.start, symbol.end - symbol.start));
        if (id && pieces.type(*id) == PieceType::kUnused && !symbol.parts.empty()) {
            symbols.push_back(symbol.parts[1]);
            symbols.push_back(symbol.parts[0]);
        } else if (id && pieces.type(*id) != PieceType::kUnused) {
            out.insert(out.end(), {*id, symbol.start, symbol.end});
            fuses = false;
        } else {
            add_unknown(pieces, out, chunk, symbol.start, symbol.end, fuses);
        }
    }
    return out;
}

inline Placed unigram_slowly(const PieceSet& pieces, Text chunk) {
    struct Path {  // the best one to a place: its score and its last piece
        float score;
        std::uint32_t start;
        Id id;
    };
    const std::string_view text = view(chunk);
    float worst = std::numeric_limits<float>::max();
    for (Id id = 0; id < pieces.texts.size(); ++id) {
        if (pieces.type(id) == PieceType::kNormal) {
            worst = std::min(worst, static_cast<float>(pieces.scores[id]));
        }
    }
    std::vector<std::optional<Path>> paths(text.size() + 1);
    paths[0] = {0, 0, 0};
    for (std::uint32_t start = 0; start < text.size();) {
        if (const float far = paths[start]->score; std::abs(far) > 100'000) {
            for (std::size_t i = start; i < paths.size(); ++i) {
                if (paths[i]) paths[i]->score -= far;
            }
        }
        const std::size_t size = utf8::length_by_lead(chunk.begin[start], text.size() - start);
        const auto reach = [&](std::size_t length, float more, Id id) {
            std::optional<Path>& path = paths[start + length];
            const float score = paths[start]->score + more;
            if (!path || score > path->score) path = {score, start, id};
        };
        bool is_character = false;
        for (std::size_t length = 1; length <= std::min<std::size_t>(32, text.size() - start);
             ++length) {
            const auto id = pieces.find(text.substr(start, length));
            if (!id || pieces.type(*id) == PieceType::kUnused) continue;
            const bool user = pieces.type(*id) == PieceType::kUserDefined;
            reach(length,
                  static_cast<float>(user ? 0.1 * static_cast<double>(length - 1)
                                          : pieces.scores[*id]),
                  *id);
            is_character |= length == size;
        }
        if (!is_character) reach(size, worst - 10, 0);
        start += static_cast<std::uint32_t>(size);
    }
    std::vector<std::pair<Path, std::uint32_t>> steps;
    for (std::uint32_t end = static_cast<std::uint32_t>(text.size()); end > 0;) {
        steps.emplace_back(*paths[end], end);
        end = steps.back().first.start;
    }
    Placed out;
    bool fuses = false;
    for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
        const auto& [last, end] = *step;
        if (last.id == 0) {
            add_unknown(pieces, out, chunk, last.start, end, fuses);
        } else {
            out.insert(out.end(), {last.id, last.start, end});
            fuses = false;
        }
    }
    return out;
}

}  // namespace toksmith::test

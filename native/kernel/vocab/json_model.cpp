#include "vocab/json_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <string>

#include "base/hash.hpp"
#include "utf8/decode.hpp"
#include "vocab/byte_alphabet.hpp"
#include "vocab/json.hpp"

namespace toksmith {
namespace {

using json::Refused;

// The most that an id may be, as in src/toksmith/_base/files.py.
std::size_t highest_id(std::size_t count) {
    return std::min((std::size_t{1} << 24) - 1, (std::size_t{1} << 17) + 16 * count);
}

// The values of the fields of an object.
struct Fields {
    std::string_view vocab, merges;
    bool has_prefix = false;
};

// Finds the vocabulary and the merges of the model.
Fields find_fields(std::string_view file) {
    Fields found;
    json::Reader json(file);
    std::string key;
    std::size_t models = 0;
    const auto value = [&] {
        json.peek();
        const char* const start = json.place();
        json.skip();
        return std::string_view(start, static_cast<std::size_t>(json.place() - start));
    };
    const auto read_key = [&] {
        key.clear();
        json.string(key);
        json.expect(':');
    };
    json.items('{', '}', [&] {
        read_key();
        if (key != "model") return json.skip();
        ++models;
        json.items('{', '}', [&] {
            read_key();
            std::string_view* const held = key == "vocab"    ? &found.vocab
                                           : key == "merges" ? &found.merges
                                                             : nullptr;
            if (held != nullptr) {
                if (!held->empty()) throw Refused();
                *held = value();
            } else if (key == "continuing_subword_prefix") {
                const std::string_view prefix = value();
                found.has_prefix = !prefix.starts_with("null") && prefix != "\"\"";
            } else {
                json.skip();
            }
        });
    });
    // Tokens after the prefix of a continued word merge in another way.
    if (models != 1 || found.vocab.empty() || (found.has_prefix && !found.merges.empty()))
        throw Refused();
    return found;
}

}  // namespace

class JsonModel::Reader {
 public:
    explicit Reader(JsonModel& model) : model_(model) {}

    void read(std::string_view file) {
        if (!utf8::is_valid(file)) throw Refused();
        const Fields fields = find_fields(file);
        if (fields.vocab.front() == '{') {
            read_ids(fields.vocab);
        } else {
            read_pieces(fields.vocab);
        }
        model_.index_ = TokenIndex(model_.tokens_);
        if (model_.index_.size() != count_) throw Refused();
        if (!fields.merges.empty()) read_merges(fields.merges);
        set_rest(file, fields);
    }

 private:
    void read_ids(std::string_view text) {
        json::Reader json(text);
        Vocabulary listed{{}, {0}};
        std::vector<Id> ids;
        listed.bytes.reserve(text.size());
        bool in_order = true;
        json.items('{', '}', [&] {
            json.string(listed.bytes);
            if (listed.bytes.size() == listed.offsets.back()) throw Refused();
            listed.offsets.push_back(listed.bytes.size());
            json.expect(':');
            ids.push_back(json.id());
            in_order = in_order && ids.back() == ids.size() - 1;
        });
        count_ = ids.size();
        if (count_ == 0) throw Refused();
        if (in_order) {
            model_.tokens_ = std::move(listed);
            return;
        }
        const std::size_t highest = *std::ranges::max_element(ids);
        if (highest > highest_id(count_)) throw Refused();
        constexpr std::size_t kNowhere = ~std::size_t{0};
        std::vector<std::size_t> places(highest + 1, kNowhere);
        for (std::size_t i = 0; i < ids.size(); ++i) {
            if (places[ids[i]] != kNowhere) throw Refused();
            places[ids[i]] = i;
        }
        Vocabulary& tokens = model_.tokens_;
        tokens.bytes.reserve(listed.bytes.size());
        for (const std::size_t place : places) {
            if (place != kNowhere) {
                const std::string_view token = listed[static_cast<Id>(place)];
                tokens.bytes.insert(tokens.bytes.end(), token.begin(), token.end());
            }
            tokens.offsets.push_back(tokens.bytes.size());
        }
    }

    void read_pieces(std::string_view text) {
        json::Reader json(text);
        Vocabulary& pieces = model_.tokens_;
        auto& scores = model_.scores_.emplace();
        json.items('[', ']', [&] {
            json.expect('[');
            json.string(pieces.bytes);
            if (pieces.bytes.size() == pieces.offsets.back()) throw Refused();
            pieces.offsets.push_back(pieces.bytes.size());
            json.expect(',');
            scores.push_back(json.number());
            json.expect(']');
        });
        count_ = scores.size();
        if (count_ == 0) throw Refused();
    }

    void read_merges(std::string_view text) {
        json::Reader json(text);
        std::vector<Id>& merges = model_.merges_.emplace();
        model_.is_merged_.resize(model_.tokens_.size());
        std::string left, right;
        std::vector<std::uint64_t> pairs;
        bool are_lists = false;
        json.items('[', ']', [&] {
            left.clear();
            right.clear();
            const bool is_list = json.peek() == '[';
            if (!pairs.empty() && is_list != are_lists) throw Refused();
            are_lists = is_list;
            if (is_list) {
                json.expect('[');
                json.string(left);
                json.expect(',');
                json.string(right);
                json.expect(']');
            } else {
                json.string(left);
                const std::size_t space = left.find(' ');
                if (space == left.npos || left.find(' ', space + 1) != left.npos) throw Refused();
                right.assign(left, space + 1);
                left.resize(space);
            }
            const std::size_t start = merges.size();
            add(left);
            add(right);
            left += right;
            add(left);
            pairs.push_back(std::uint64_t{merges[start]} << 32 | merges[start + 1]);
        });
        refuse_repeated(pairs);
    }

    void add(std::string_view token) {
        const Id id = model_.find(token);
        if (id == TokenIndex::kNone) throw Refused();
        model_.merges_->push_back(id);
        model_.is_merged_[id] = true;
    }

    static void refuse_repeated(const std::vector<std::uint64_t>& pairs) {
        constexpr std::uint64_t kFree = ~std::uint64_t{0};
        const std::size_t mask = std::bit_ceil(pairs.size() * 2 + 1) - 1;
        std::vector<std::uint64_t> seen(mask + 1, kFree);
        for (const std::uint64_t pair : pairs) {
            std::size_t i = hash_word(pair) & mask;
            for (; seen[i] != kFree; i = (i + 1) & mask)
                if (seen[i] == pair) throw Refused();
            seen[i] = pair;
        }
    }

    void set_rest(std::string_view file, const Fields& fields) {
        std::array<std::string_view, 2> cut{fields.vocab, fields.merges};
        if (!cut[1].empty() && cut[1].data() < cut[0].data()) std::swap(cut[0], cut[1]);
        const char* start = file.data();
        for (const std::string_view each : cut) {
            if (each.empty()) continue;
            model_.rest_.append(start, each.data()).append("null");
            start = each.data() + each.size();
        }
        model_.rest_.append(start, file.data() + file.size());
    }

    JsonModel& model_;
    std::size_t count_ = 0;
};

std::optional<JsonModel> JsonModel::read(std::string_view file) {
    std::optional<JsonModel> model(std::in_place);
    try {
        Reader(*model).read(file);
    } catch (const Refused&) {
        return std::nullopt;
    }
    return model;
}

std::optional<Vocabulary> JsonModel::spelled_bytes(const std::vector<Id>& dropped) const {
    // The byte that each character spells; 0xFFFF: none.
    static const auto kBytes = [] {
        std::array<std::uint16_t, 0x180> bytes;
        bytes.fill(0xFFFF);
        for (std::uint16_t byte = 0; byte < 256; ++byte) bytes[kByteCharacters[byte]] = byte;
        return bytes;
    }();
    std::vector<bool> is_dropped(tokens_.size());
    for (const Id id : dropped) {
        if (id < is_dropped.size()) is_dropped[id] = true;
    }
    Vocabulary found{{}, {0}};
    found.bytes.reserve(tokens_.bytes.size());
    found.offsets.reserve(tokens_.offsets.size());
    for (Id id = 0; id < tokens_.size(); ++id) {
        const std::string_view token = is_dropped[id] ? std::string_view() : tokens_[id];
        const auto* p = reinterpret_cast<const std::uint8_t*>(token.data());
        for (const auto* const end = p + token.size(); p < end;) {
            const utf8::Char c = utf8::decode(p, end);
            if (c.code >= kBytes.size() || kBytes[c.code] == 0xFFFF) return std::nullopt;
            found.bytes.push_back(static_cast<std::uint8_t>(kBytes[c.code]));
            p += c.size;
        }
        found.offsets.push_back(found.bytes.size());
    }
    while (found.size() > 0 && found.length(static_cast<Id>(found.size() - 1)) == 0)
        found.offsets.pop_back();
    return found;
}

}  // namespace toksmith

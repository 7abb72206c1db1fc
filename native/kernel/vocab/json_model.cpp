#include "vocab/json_model.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string>

#include "base/hash.hpp"
#include "utf8/decode.hpp"
#include "utf8/json_escape.hpp"

namespace toksmith {
namespace {

// A text that has to be read with messages for what is wrong.
struct Refused {};

// The most that an id may be, as in src/toksmith/_base/files.py.
std::size_t highest_id(std::size_t count) {
    return std::min((std::size_t{1} << 24) - 1, (std::size_t{1} << 17) + 16 * count);
}

// Returns the value of a JSON number as serde_json computes it for `tokenizers`: the digits as an
// integer, scaled by a power of ten. That is often not the nearest double, and decides between
// segmentations whose scores are sums of the same numbers in another order.
double decimal(std::string_view number) {
    static const auto powers = [] {
        std::array<double, 309> made{1};
        for (std::size_t i = 1; i < made.size(); ++i) {
            const std::string text = "1e" + std::to_string(i);
            std::from_chars(text.data(), text.data() + text.size(), made[i]);
        }
        return made;
    }();
    const bool negative = number.starts_with('-');
    if (negative) number.remove_prefix(1);
    std::uint64_t digits = 0;
    int exponent = 0;
    bool is_full = false, in_fraction = false;
    while (!number.empty() && number[0] != 'e' && number[0] != 'E') {
        const char letter = number[0];
        number.remove_prefix(1);
        if (letter == '.') {
            in_fraction = true;
            continue;
        }
        const auto digit = static_cast<std::uint64_t>(letter - '0');
        is_full = is_full || digits > (std::numeric_limits<std::uint64_t>::max() - digit) / 10;
        if (!is_full) digits = digits * 10 + digit;
        exponent += (is_full ? 1 : 0) - (in_fraction ? 1 : 0);
    }
    if (!number.empty()) {
        number.remove_prefix(number.size() > 1 && number[1] == '+' ? 2 : 1);
        int written = 0;
        const char* const end = number.data() + number.size();
        if (std::from_chars(number.data(), end, written).ec != std::errc() ||
            std::abs(written) > 100'000)
            throw Refused();
        exponent += written;
    }
    auto value = static_cast<double>(digits);
    for (; exponent < -308 && value != 0; exponent += 308) value /= 1e308;
    if (exponent > 308 && value != 0) throw Refused();
    if (value != 0) {
        const double power = powers[static_cast<std::size_t>(std::abs(exponent))];
        value = exponent < 0 ? value / power : value * power;
    }
    return negative ? -value : value;
}

// A place in a JSON text, and what can be read there. Throws Refused.
class Json {
 public:
    explicit Json(std::string_view text) : p_(text.data()), end_(p_ + text.size()) {}

    const char* place() const { return p_; }
    char peek() {
        while (p_ < end_ && (*p_ == ' ' || *p_ == '\n' || *p_ == '\r' || *p_ == '\t')) ++p_;
        if (p_ == end_) throw Refused();
        return *p_;
    }
    bool take(char wanted) {
        if (peek() != wanted) return false;
        ++p_;
        return true;
    }
    void expect(char wanted) {
        if (!take(wanted)) throw Refused();
    }

    // Calls item() at each item of a list or object, which it must read.
    template <typename Item>
    void items(char open, char close, Item item) {
        expect(open);
        if (take(close)) return;
        do {
            item();
        } while (take(','));
        expect(close);
    }

    // Appends a string.
    template <typename Bytes>
    void string(Bytes& out) {
        expect('"');
        for (;;) {
            const char* const start = p_;
            while (p_ < end_ && *p_ != '"' && *p_ != '\\' && static_cast<unsigned char>(*p_) >= 32)
                ++p_;
            out.insert(out.end(), start, p_);
            if (p_ == end_) throw Refused();
            if (*p_ == '"') break;
            if (*p_ != '\\') throw Refused();
            ++p_;
            escape(out);
        }
        ++p_;
    }

    // Passes over a value without a check.
    void skip() {
        const char first = peek();
        if (first == '"') return skip_string();
        if (first != '{' && first != '[') {
            while (p_ < end_ && *p_ != ',' && *p_ != '}' && *p_ != ']') ++p_;
            return;
        }
        for (std::size_t depth = 0; p_ < end_;) {
            switch (*p_) {
                case '"':
                    skip_string();
                    continue;
                case '{':
                case '[':
                    ++depth;
                    break;
                case '}':
                case ']':
                    --depth;
                    break;
                default:
                    break;
            }
            ++p_;
            if (depth == 0) return;
        }
        throw Refused();
    }

    Id id() {
        peek();
        const char* const start = p_;
        std::uint32_t value = 0;
        for (; p_ < end_ && *p_ >= '0' && *p_ <= '9' && p_ - start < 9; ++p_)
            value = value * 10 + static_cast<std::uint32_t>(*p_ - '0');
        if (p_ == start || (*start == '0' && p_ - start > 1)) throw Refused();
        return value;
    }

    double number() {
        peek();
        const char* const start = p_;
        const auto digits = [&] {
            const char* const first = p_;
            while (p_ < end_ && *p_ >= '0' && *p_ <= '9') ++p_;
            if (p_ == first) throw Refused();
            return p_ - first;
        };
        if (*p_ == '-') ++p_;
        const char* const first = p_;
        if (digits() > 1 && *first == '0') throw Refused();
        if (p_ < end_ && *p_ == '.') ++p_, digits();
        if (p_ < end_ && (*p_ == 'e' || *p_ == 'E')) {
            ++p_;
            if (p_ < end_ && (*p_ == '+' || *p_ == '-')) ++p_;
            digits();
        }
        const double value = decimal({start, p_});
        if (!std::isfinite(value)) throw Refused();
        return value;
    }

 private:
    void skip_string() {
        for (++p_; p_ < end_ && *p_ != '"'; ++p_)
            if (*p_ == '\\') ++p_;
        if (p_ >= end_) throw Refused();
        ++p_;
    }

    template <typename Bytes>
    void escape(Bytes& out) {
        std::array<std::uint8_t, utf8::kMostBytes> bytes;
        const std::uint32_t size = unescape(p_, end_, bytes.data());
        if (size == 0) throw Refused();
        for (std::uint32_t i = 0; i < size; ++i)
            out.push_back(static_cast<typename Bytes::value_type>(bytes[i]));
    }

    const char* p_;
    const char* end_;
};

// The values of the fields of an object.
struct Fields {
    std::string_view vocab, merges;
    bool has_prefix = false;
};

// Finds the vocabulary and the merges of the model.
Fields find_fields(std::string_view file) {
    Fields found;
    Json json(file);
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
        Json json(text);
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
        Json json(text);
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
        Json json(text);
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
        std::uint32_t hidden = 0x100;
        for (std::uint32_t byte = 0; byte < 256; ++byte) {
            const bool visible = (byte >= 0x21 && byte < 0x7F) || (byte >= 0xA1 && byte != 0xAD);
            bytes[visible ? byte : hidden++] = static_cast<std::uint16_t>(byte);
        }
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

#include "fused/sentencepiece_stages.hpp"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "base/recent_values.hpp"
#include "base/stop.hpp"
#include "utf8/encode.hpp"
#include "vocab/code_point_table.hpp"

namespace toksmith::sentencepiece {
namespace {

constexpr std::string_view kMark = "\xE2\x96\x81";  // U+2581 replaces a space
constexpr std::uint32_t kMarkCode = 0x2581;
constexpr std::string_view kReplacement = "\xEF\xBF\xBD";  // U+FFFD replaces an invalid byte
constexpr std::uint32_t kInvalid = 0xDFFF;                 // see CharacterTable::code_of()

const std::uint8_t* bytes_of(std::string_view text) {
    return reinterpret_cast<const std::uint8_t*>(text.data());
}

std::string_view view_of(const std::uint8_t* begin, std::size_t size) {
    return {reinterpret_cast<const char*>(begin), size};
}

void append_text(std::string_view text, std::vector<std::uint8_t>& out) {
    out.insert(out.end(), bytes_of(text), bytes_of(text) + text.size());
}

void sort_distinct(std::vector<std::uint32_t>& codes) {
    std::ranges::sort(codes);
    codes.erase(std::unique(codes.begin(), codes.end()), codes.end());
}

ByteTrie trie_of(const std::vector<std::string>& symbols) {
    std::vector<ByteTrie::Entry> entries;
    for (const std::string& symbol : symbols) entries.push_back({symbol, 0});
    return ByteTrie(std::move(entries));
}

std::uint32_t first_code(std::string_view text) {
    return utf8::decode(bytes_of(text), bytes_of(text) + text.size()).code;
}

}  // namespace

Normalizer::Normalizer(std::shared_ptr<const CharacterMap> map,
                       const std::vector<std::string>& protected_symbols, NormalizerOptions options)
    : map_(std::move(map)), protected_(trie_of(protected_symbols)), options_(options) {
    sensitive_ = map_->laters();
    // A symbol without a character that may change is the same with and without protection.
    const auto changes = [this](const std::string& symbol) {
        const std::uint8_t *p = bytes_of(symbol), *const end = p + symbol.size();
        for (utf8::Char c; p < end; p += c.size) {
            c = utf8::decode(p, end);
            if (c.code == ' ' || c.code == kMarkCode ||
                std::ranges::binary_search(map_->firsts(), c.code))
                return true;
        }
        return false;
    };
    for (const std::string& symbol : protected_symbols) {
        const std::uint32_t code = first_code(symbol);
        if (code != utf8::kInvalid && utf8::size_of(code) < symbol.size() && changes(symbol))
            sensitive_.push_back(code);
    }
    if (options.remove_extra_whitespaces) sensitive_.push_back(kMarkCode);  // spaces collapse
    sort_distinct(sensitive_);
    seen_ = sensitive_;
    seen_.insert(seen_.end(), map_->firsts().begin(), map_->firsts().end());
    seen_.insert(seen_.end(), {' ', kInvalid});
    sort_distinct(seen_);
    starts_.resize(0x110000 / 64);
    const auto start_with = [this](std::uint32_t code) {
        if (code != utf8::kInvalid) starts_[code / 64] |= std::uint64_t{1} << code % 64;
    };
    start_with(' ');
    for (const std::uint32_t code : map_->firsts()) start_with(code);
    for (const std::string& symbol : protected_symbols) start_with(first_code(symbol));
}

std::string_view Normalizer::space() const { return options_.escape_whitespaces ? kMark : " "; }

CharacterMap::Match Normalizer::at(const std::uint8_t* p, const std::uint8_t* end) const {
    std::size_t length = 0;
    if (protected_.longest(p, static_cast<std::size_t>(end - p), length) != ByteTrie::kNone)
        return {length, view_of(p, length)};
    const utf8::Char c = utf8::decode(p, end);
    if (const CharacterMap::Match found = map_->longest(p, end); found.size != 0) return found;
    return {c.size, c.code == utf8::kInvalid ? kReplacement : view_of(p, c.size)};
}

void Normalizer::append(const std::uint8_t* chunk, std::size_t size,
                        std::vector<std::uint8_t>& out) const {
    const std::size_t begin = out.size();
    bool after_space = false;
    InterruptionPoints<std::size_t{1} << 16> points;
    for (const std::uint8_t *p = chunk, *const end = chunk + size; p < end;) {
        const std::uint8_t* const plain = p;
        for (; p < end; points.step()) {
            const utf8::Char c = utf8::decode(p, end);
            if (c.code == utf8::kInvalid || starts(c.code)) break;
            p += c.size;
        }
        if (p != plain) {
            out.insert(out.end(), plain, p);
            after_space = false;
            if (p == end) break;
        }
        const CharacterMap::Match found = at(p, end);
        p += found.size;
        std::string_view text = found.text;
        if (after_space) text.remove_prefix(std::min(text.find_first_not_of(' '), text.size()));
        if (text.empty()) continue;
        after_space = options_.remove_extra_whitespaces && text.back() == ' ';
        for (std::size_t start = 0; start < text.size();) {
            const std::size_t stop = std::min(text.find(' ', start), text.size());
            append_text(text.substr(start, stop - start), out);
            if (stop < text.size()) append_text(space(), out);
            start = stop + 1;
        }
    }
    if (!options_.remove_extra_whitespaces) return;
    while (view_of(out.data() + begin, out.size() - begin).ends_with(space()))
        out.resize(out.size() - space().size());
}

void Normalizer::append_single(std::uint32_t code, std::vector<std::uint8_t>& out) const {
    if (code == kInvalid) return append_text(kReplacement, out);
    std::array<std::uint8_t, utf8::kMostBytes> bytes;
    const std::uint32_t size = utf8::encode(code, bytes.data());
    for (const char c : at(bytes.data(), bytes.data() + size).text)
        append_text(c == ' ' ? space() : std::string_view(&c, 1), out);
}

bool Normalizer::is_context_sensitive(std::uint32_t code) const {
    return std::ranges::binary_search(sensitive_, code);
}

bool Normalizer::leaves(std::uint32_t first, std::uint32_t end) const {
    const auto found = std::ranges::lower_bound(seen_, first);
    return found == seen_.end() || *found >= end;
}

namespace {

// The characters of the pieces as classes for CutTable.
class Characters {
 public:
    static constexpr CutTable::CutClass kUnknown = 0;

    // Returns nothing if a piece is invalid UTF-8, or there are too many characters.
    static std::optional<Characters> of(const Vocabulary& vocabulary,
                                        const std::vector<std::uint8_t>& types, bool fuses_unknown,
                                        bool collapse) {
        Characters made;
        made.class_of(' ');
        const CutTable::CutClass mark = made.class_of(kMarkCode);
        std::vector<bool> is_known(3);
        RecentValues recent;
        for (Id id = 0; id < vocabulary.size(); ++id) {
            const auto type = static_cast<PieceType>(types[id]);
            if (type == PieceType::kUnknown || type == PieceType::kControl ||
                type == PieceType::kByte)
                continue;
            const std::string_view piece = vocabulary[id];
            const std::uint8_t *p = bytes_of(piece), *const end = p + piece.size();
            CutTable::CutClass before = kUnknown;
            for (bool first = true; p < end; first = false) {
                const utf8::Char c = utf8::decode(p, end);
                if (c.code == utf8::kInvalid) return std::nullopt;
                p += c.size;
                const CutTable::CutClass found = made.class_of(c.code);
                const std::uint32_t pair = std::uint32_t{before} << 16 | found;
                if (!first && !recent.add(pair)) made.pairs_.push_back(pair);
                before = found;
                if (first && p == end && type != PieceType::kUnused) {
                    if (found >= is_known.size()) is_known.resize(found + 1u);
                    is_known[found] = true;
                }
            }
            if (made.count_ >= kMost) return std::nullopt;
        }
        is_known.resize(made.count_);
        if (fuses_unknown) {
            std::vector<CutTable::CutClass> unknown{kUnknown};
            for (std::uint32_t i = 1; i < made.count_; ++i)
                if (!is_known[i]) unknown.push_back(static_cast<CutTable::CutClass>(i));
            for (const CutTable::CutClass left : unknown)
                for (const CutTable::CutClass right : unknown)
                    made.pairs_.push_back(std::uint32_t{left} << 16 | right);
        }
        // A space is kept with the next character, because it may be collapsed or trimmed.
        for (std::uint32_t i = 0; collapse && i < made.count_; ++i)
            made.pairs_.push_back(std::uint32_t{mark} << 16 | i);
        sort_distinct(made.pairs_);
        return made;
    }

    CutTable::CutClass operator[](std::uint32_t code) const {
        const Id found = classes_[code];
        return found == CodePointTable::kNone ? kUnknown : static_cast<CutTable::CutClass>(found);
    }
    // Whether no piece holds a character from `first` to before `end`.
    bool lack(std::uint32_t first, std::uint32_t end) const {
        while (first < end && classes_[first] == CodePointTable::kNone) ++first;
        return first == end;
    }
    std::vector<std::pair<CutTable::CutClass, CutTable::CutClass>> inseparable() const {
        std::vector<std::pair<CutTable::CutClass, CutTable::CutClass>> pairs;
        for (const std::uint32_t pair : pairs_) pairs.emplace_back(pair >> 16, pair & 0xFFFF);
        return pairs;
    }

 private:
    static constexpr std::uint32_t kMost = CutTable::kContextSensitive - 2u;

    CutTable::CutClass class_of(std::uint32_t code) {
        Id found = classes_[code];
        if (found == CodePointTable::kNone) classes_.set(code, found = count_++);
        return static_cast<CutTable::CutClass>(found);
    }

    CodePointTable classes_;
    std::uint32_t count_ = 1;  // class 0: characters in no piece
    std::vector<std::uint32_t> pairs_;
};

std::unique_ptr<const CharacterTable::Block> block_of(std::uint32_t number,
                                                      const Normalizer& normalizer,
                                                      const Characters& characters) {
    const std::uint32_t start = number * CharacterTable::kBlock;
    const bool unchanged = normalizer.leaves(start, start + CharacterTable::kBlock);
    const bool surrogates = utf8::is_surrogate(start);
    const bool collapse = normalizer.options().remove_extra_whitespaces;
    if (unchanged && !surrogates && characters.lack(start, start + CharacterTable::kBlock))
        return nullptr;
    auto block = std::make_unique<CharacterTable::Block>();
    block->units.reserve(CharacterTable::kBlock * (2 + utf8::kMostBytes));
    std::vector<std::uint8_t> text;
    text.reserve(4 * utf8::kMostBytes);
    for (std::uint32_t i = 0; i < CharacterTable::kBlock; ++i) {
        const std::uint32_t code = surrogates ? kInvalid : start + i;
        text.clear();
        if (unchanged) {
            text.resize(utf8::kMostBytes);
            text.resize(utf8::encode(code, text.data()));
        } else {
            normalizer.append_single(code, text);
        }
        const std::string_view form = view_of(text.data(), text.size());
        const bool sensitive =
            (!unchanged && normalizer.is_context_sensitive(code)) ||
            (collapse && form != kMark && form.find(kMark) != std::string_view::npos);
        CharacterTable::Row& row = block->rows[i];
        row.begin = static_cast<std::uint32_t>(block->units.size());
        row.left = row.right = CutTable::kContextSensitive;
        for (const std::uint8_t *p = text.data(), *const end = p + text.size(); p < end;) {
            const utf8::Char c = utf8::decode(p, end);
            if (!sensitive) {
                row.left = characters[c.code];
                if (p == text.data()) row.right = row.left;
            }
            const bool is_space = collapse && c.code == kMarkCode;
            block->units.push_back(static_cast<std::uint8_t>(is_space ? Unit::kSpace : Unit::kRun));
            block->units.push_back(static_cast<std::uint8_t>(c.size));
            block->units.insert(block->units.end(), p, p + c.size);
            p += c.size;
        }
        const std::size_t size = block->units.size() - row.begin;
        if (size > 0xFFFF)
            throw std::invalid_argument("the normalized form of a character is above 64 KiB");
        row.size = static_cast<std::uint16_t>(size);
        row.is_context_sensitive = sensitive;
    }
    return block;
}

}  // namespace

std::shared_ptr<FusedModel> fuse(std::shared_ptr<const Model> model, const Vocabulary& vocabulary,
                                 const std::vector<std::uint8_t>& types, bool fuses_unknown,
                                 std::shared_ptr<const Normalizer> normalizer,
                                 decltype(Stages::locate_stages) locate_stages) {
    const NormalizerOptions& options = normalizer->options();
    if (types.size() != vocabulary.size()) throw std::invalid_argument("each piece needs a type");
    if (options.remove_extra_whitespaces &&
        !(options.add_dummy_prefix && options.escape_whitespaces))
        return nullptr;
    if (options.add_dummy_prefix && std::ranges::binary_search(normalizer->map().firsts(), ' '))
        return nullptr;
    auto characters =
        Characters::of(vocabulary, types, fuses_unknown, options.remove_extra_whitespaces);
    if (!characters) return nullptr;
    const auto inseparable = characters->inseparable();
    Stages stages{
        .prefix_space = options.add_dummy_prefix ? PrefixSpace::kAlways : PrefixSpace::kNone,
        .collapse = options.remove_extra_whitespaces,
        .trim = options.remove_extra_whitespaces,
        .origin = Origin::kUpToNext,
        .run_stages =
            [normalizer](const std::uint8_t* chunk, std::size_t size,
                         std::vector<std::uint8_t>& pieces, std::vector<std::size_t>& ends) {
                normalizer->append(chunk, size, pieces);
                if (!pieces.empty()) ends.push_back(pieces.size());
            },
        .locate_stages = std::move(locate_stages)};
    auto table = std::make_shared<const CharacterTable>(
        [normalizer = std::move(normalizer), kept = std::move(*characters)](std::uint32_t number) {
            return block_of(number, *normalizer, kept);
        });
    auto cut_table = std::make_shared<const CutTable>(table, inseparable);
    return std::make_shared<FusedModel>(std::move(model), std::move(table), std::move(cut_table),
                                        std::move(stages));
}

}  // namespace toksmith::sentencepiece

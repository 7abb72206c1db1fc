#include "text/character_map.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "utf8/encode.hpp"

namespace toksmith {
namespace {

// The continuation bytes that follow a first byte; -1 if a character cannot start with it.
int continuations(std::uint8_t lead) {
    if (lead == 0 || (lead >= 0x80 && lead < 0xC2) || lead >= 0xF5) return -1;
    return (lead >= 0xC2) + (lead >= 0xE0) + (lead >= 0xF0);
}

}  // namespace

// Checks the trie and collects its characters.
class CharacterMap::Reader {
 public:
    explicit Reader(CharacterMap& map)
        : map_(map), first_child_(map.units_.size(), 0), sibling_(map.units_.size(), 0) {
        for (std::size_t place = map.units_.size(); place-- > 1;) {
            const Unit unit = map.units_[place];
            if ((unit & kLeaf) != 0 || (unit & 0xFF) == 0) continue;
            const std::size_t base = place ^ (unit & 0xFF);
            sibling_[place] = first_child_[base];
            first_child_[base] = static_cast<std::uint32_t>(place);
        }
    }

    // Whether all keys are UTF-8 and have a replacement, and no path loops.
    bool check() const {
        // By node and missing bytes of a character: not seen, on the current path, done.
        enum : std::uint8_t { kNew, kOpen, kDone };
        std::vector<std::uint8_t> states(map_.units_.size() * 4, kNew);
        struct Step {
            std::size_t node;
            unsigned missing;
            std::size_t child;
        };
        std::vector<Step> path;
        const auto enter = [&](std::size_t node, unsigned missing) {
            const std::size_t base = map_.base_of(node);
            if (base >= map_.units_.size()) return false;
            if ((map_.units_[node] & kHasLeaf) != 0 && !check_leaf(base, missing)) return false;
            states[node * 4 + missing] = kOpen;
            path.push_back({node, missing, first_child_[base]});
            return true;
        };
        if (!enter(0, 0)) return false;
        while (!path.empty()) {
            Step& last = path.back();
            if (last.child == 0) {
                states[last.node * 4 + last.missing] = kDone;
                path.pop_back();
                continue;
            }
            const std::size_t child = last.child;
            last.child = sibling_[child];
            const auto byte = static_cast<std::uint8_t>(map_.units_[child]);
            int missing = static_cast<int>(last.missing) - 1;
            if (last.missing == 0) {
                missing = continuations(byte);
            } else if (!utf8::is_continuation(byte)) {
                missing = -1;
            }
            if (missing < 0) return false;
            const std::uint8_t state = states[child * 4 + static_cast<std::size_t>(missing)];
            if (state == kOpen) return false;
            if (state == kNew && !enter(child, static_cast<unsigned>(missing))) return false;
        }
        return true;
    }

    void collect() {
        std::vector<bool> seen(map_.units_.size());
        std::vector<std::size_t> todo;
        const auto add = [&](std::size_t node, std::vector<std::uint32_t>& found) {
            for_each_character(node, [&](std::uint32_t code, std::size_t after) {
                found.push_back(code);
                if (!seen[after]) todo.push_back(after);
                seen[after] = true;
            });
        };
        add(0, map_.firsts_);
        while (!todo.empty()) {
            const std::size_t node = todo.back();
            todo.pop_back();
            add(node, map_.laters_);
        }
        for (auto* found : {&map_.firsts_, &map_.laters_}) {
            std::ranges::sort(*found);
            found->erase(std::unique(found->begin(), found->end()), found->end());
        }
    }

 private:
    bool check_leaf(std::size_t base, unsigned missing) const {
        const Unit leaf = map_.units_[base];
        if (missing != 0 || (leaf & kLeaf) == 0) return false;
        const std::size_t start = leaf ^ kLeaf;
        if (start >= map_.texts_.size()) return false;
        const char* const text = map_.texts_.data() + start;
        const void* const end = std::memchr(text, 0, map_.texts_.size() - start);
        return end != nullptr && utf8::is_valid(text);
    }

    // Calls found(code, node after it) for each character that leads on from a node.
    template <typename Found>
    void for_each_character(std::size_t node, Found found) const {
        std::array<std::uint8_t, utf8::kMostBytes> bytes;
        const auto follow = [&](auto& self, std::size_t from, std::size_t size,
                                std::size_t whole) -> void {
            if (size == whole && size != 0) {
                const utf8::Char c = utf8::decode(bytes.data(), bytes.data() + size);
                if (c.code != utf8::kInvalid) found(c.code, from);
                return;
            }
            for (std::size_t child = first_child_[map_.base_of(from)]; child != 0;
                 child = sibling_[child]) {
                bytes[size] = static_cast<std::uint8_t>(map_.units_[child]);
                const std::size_t length =
                    size != 0 ? whole : 1 + static_cast<std::size_t>(continuations(bytes[0]));
                self(self, child, size + 1, length);
            }
        };
        follow(follow, node, 0, 0);
    }

    CharacterMap& map_;
    std::vector<std::uint32_t> first_child_;  // of the node with a base; 0: none
    std::vector<std::uint32_t> sibling_;
};

std::optional<CharacterMap> CharacterMap::read(std::string_view charsmap) {
    CharacterMap map;
    if (charsmap.empty()) return map;
    if (charsmap.size() < 5) return std::nullopt;
    const auto byte_at = [&](std::size_t i) {
        return Unit{static_cast<std::uint8_t>(charsmap[i])};
    };
    const auto unit_at = [&](std::size_t i) {
        return byte_at(i) | byte_at(i + 1) << 8 | byte_at(i + 2) << 16 | byte_at(i + 3) << 24;
    };
    // Children are found by XOR with a byte, so whole blocks of 256 units keep them inside.
    const std::size_t size = unit_at(0);
    if (size == 0 || size % 1024 != 0 || 4 + size > charsmap.size()) return std::nullopt;
    map.units_.resize(size / 4);
    for (std::size_t i = 0; i < map.units_.size(); ++i) map.units_[i] = unit_at(4 + 4 * i);
    map.texts_.assign(charsmap.begin() + static_cast<std::ptrdiff_t>(4 + size), charsmap.end());
    Reader reader(map);
    if (!reader.check()) return std::nullopt;
    reader.collect();
    return map;
}

CharacterMap::Match CharacterMap::longest(const std::uint8_t* p, const std::uint8_t* end) const {
    Match best;
    if (units_.empty()) return best;
    std::size_t node = 0;
    for (const std::uint8_t* place = p; place < end;) {
        const utf8::Char c = utf8::decode(place, end);
        if (c.code == utf8::kInvalid || c.code == 0) return best;  // 0 leads to leaves
        for (const std::uint8_t* const stop = place + c.size; place < stop; ++place) {
            if (!step(node, *place)) return best;
        }
        if ((units_[node] & kHasLeaf) != 0) {
            best = {static_cast<std::size_t>(place - p), replacement(node)};
        }
    }
    return best;
}

}  // namespace toksmith

#include "models/wordpiece_trie.hpp"

#include <stdexcept>
#include <tuple>

#include "utf8/decode.hpp"

namespace toksmith::wordpiece {
namespace {

utf8::Char character_at(std::string_view text, std::size_t place) {
    const auto* begin = reinterpret_cast<const std::uint8_t*>(text.data());
    return utf8::decode(begin + place, begin + text.size());
}

bool is_utf8(std::string_view text) {
    for (std::size_t i = 0; i < text.size();) {
        const utf8::Char c = character_at(text, i);
        if (c.code == utf8::kInvalid) return false;
        i += c.size;
    }
    return true;
}

// The entries that go through a node, and how many of their bytes lead to it.
struct Through {
    const Trie::Entry* first;
    const Trie::Entry* last;
    std::size_t bytes;
};

}  // namespace

Trie::Trie(std::span<std::vector<Entry>> trees) {
    std::vector<Through> nodes;
    std::size_t bytes = 0;
    for (std::vector<Entry>& entries : trees) {
        std::erase_if(entries, [](const Entry& entry) { return !is_utf8(entry.text); });
        // Sorted by bytes, UTF-8 is sorted by characters.
        std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
            return std::tie(a.text, a.id) < std::tie(b.text, b.id);
        });
        for (const Entry& entry : entries) bytes += entry.text.size();
        nodes.push_back({entries.data(), entries.data() + entries.size(), 0});
        codes_.push_back(kNone);
    }
    if (bytes >= kNone / 2) throw std::invalid_argument("the tokens have 2 GiB or more");

    for (Node node = 0; node < nodes.size(); ++node) {
        auto [entry, last, place] = nodes[node];
        const bool ends = entry != last && entry->text.size() == place;
        tokens_.push_back(ends ? entry->id : kNone);
        children_.push_back(static_cast<Node>(nodes.size()));
        while (entry != last && entry->text.size() == place) ++entry;
        while (entry != last) {
            const Entry* const first = entry;
            const utf8::Char c = character_at(first->text, place);
            while (entry != last && character_at(entry->text, place).code == c.code) ++entry;
            nodes.push_back({first, entry, place + c.size});
            codes_.push_back(c.code);
        }
    }
    children_.push_back(static_cast<Node>(nodes.size()));
}

}  // namespace toksmith::wordpiece

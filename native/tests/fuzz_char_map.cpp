// Parses the input as a compiled map of characters, unchanged and as a small map with a few
// changed bytes. Applies what is read to the input.
#include "fuzz.hpp"
#include "text/character_map.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

void read(const std::string& file, const std::string& text) {
    const auto map = CharacterMap::read(file);
    if (!map) return;
    const auto* const end = reinterpret_cast<const std::uint8_t*>(text.data()) + text.size();
    for (std::size_t i = 0; i < text.size(); ++i) {
        const auto match = map->longest(end - text.size() + i, end);
        CHECK(i + match.size <= text.size());
        CHECK(utf8::is_valid(match.text));
    }
}

// A map of 256 units with random children, mostly damaged, and some replacements.
std::string map_of(Random& random) {
    std::string file = std::string("\x00\x04\x00\x00", 4) + std::string(1024, '\0');
    for (std::size_t i = random.below(12); i > 0; --i) {
        const std::size_t place = 4 + 4 * random.below(256);
        file[place] = static_cast<char>(random.below(256));
        file[place + 1] = static_cast<char>(random.below(8));
        file[place + 3] = static_cast<char>(random.below(2) << 7);
    }
    return file + std::string("x\0\xC3\xA9\0y\0", 8);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    const std::string text(input.text.begin(), input.text.end());
    read(text, text);
    read(damaged(map_of(input.random), input.random), text);
    return 0;
}

// Parses the input as a .tiktoken file, unchanged and mapped to characters of such files. Checks
// that everything that is read occurs in the file.
#include "fuzz.hpp"
#include "models/bpe/ranks.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

constexpr Id kMost = 5000;

void read(const std::string& file) {
    const auto found = bpe::read_ranks(file, kMost);
    if (!found) return;
    CHECK(found->size() <= kMost + 1);
    CHECK(found->offsets.back() == found->bytes.size());
    std::size_t tokens = 0;
    for (Id rank = 0; rank < found->size(); ++rank) {
        if (found->length(rank) == 0) continue;
        ++tokens;
        for (Id other = 0; other < rank; ++other) CHECK((*found)[other] != (*found)[rank]);
    }
    CHECK(tokens == static_cast<std::size_t>(std::ranges::count(file, ' ')));
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    if (size > 400) return 0;
    std::string file(data, data + size);
    read(file);
    constexpr std::string_view characters = "QUJD+/= \n\r0123456789";
    for (char& c : file) c = characters[static_cast<std::uint8_t>(c) % characters.size()];
    read(file);
    // Valid lines, except for one changed character.
    std::string lines;
    for (std::size_t i = 0; i + 2 < file.size(); i += 3) {
        lines += std::string("QU") + (file[i] == '=' ? "==" : "Jd") + ' ' + std::to_string(data[i]);
        lines += '\n';
        if (data[i + 1] == 0) lines.back() = file[i + 2];
    }
    read(lines);
    return 0;
}

// Parses the input as a SentencePiece model, unchanged and as a small valid file with a few
// changed bytes. Checks that what is read is consistent.
#include <cmath>

#include "fuzz.hpp"
#include "vocab/piece_file.hpp"

using namespace toksmith;
using namespace toksmith::test;

namespace {

void read(const std::string& file) {
    const auto found = read_piece_file(file);
    if (!found) return;
    CHECK(std::ranges::is_sorted(found->pieces.offsets));
    CHECK(found->pieces.offsets.back() == found->pieces.bytes.size());
    CHECK(found->scores.size() == found->pieces.size());
    CHECK(found->types.size() == found->pieces.size());
    CHECK(std::ranges::all_of(found->scores, [](double score) { return std::isfinite(score); }));
    CHECK(found->rest.size() <= file.size());
}

std::string piece_file_of(Random& random) {
    std::string file;
    for (std::size_t i = random.below(5); i > 0; --i) {
        const std::string piece = random.below(2) ? "ab" : "\xE2\x96\x81";
        std::string message = "\x0A" + std::string(1, static_cast<char>(piece.size())) + piece;
        if (random.below(2)) message += std::string("\x15\x00\x00\x80\x3F", 5);
        if (random.below(2)) message += std::string("\x18") + static_cast<char>(random.below(8));
        file += "\x0A" + std::string(1, static_cast<char>(message.size())) + message;
    }
    return file + std::string("\x12\x02\x08\x01", 4);
}

}  // namespace

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    const std::string text(input.text.begin(), input.text.end());
    read(text);
    read(damaged(piece_file_of(input.random), input.random));
    return 0;
}

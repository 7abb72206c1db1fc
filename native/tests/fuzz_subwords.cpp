// Encodes a text with pieces cut out of it, by merging and through the lattice, and does the same
// slowly.
#include "fuzz.hpp"
#include "subword_kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    if (input.text.empty() || input.text.size() > 400) return 0;
    // A few letters only, now and then, so that pieces overlap in every way.
    if (random.below(2)) {
        for (std::uint8_t& byte : input.text) byte = static_cast<std::uint8_t>('a' + byte % 3);
    }
    const Text text = text_of(input.text);
    const PieceSet pieces = random_pieces(random, text, random.below(48));
    CHECK(placed(pieces.bpe_model(), text) == bpe_slowly(pieces, text));
    CHECK(placed(pieces.unigram_model(), text) == unigram_slowly(pieces, text));
    return 0;
}

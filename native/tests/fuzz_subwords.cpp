// Encodes a text with pieces cut out of it, by merging and by Viterbi, and compares with slow
// implementations.
#include "fuzz.hpp"
#include "subword_kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 400);
    Random& random = input.random;
    if (input.text.empty()) return 0;
    // Sometimes a few letters only, so that pieces overlap in many ways.
    if (random.below(2)) {
        for (std::uint8_t& byte : input.text) byte = static_cast<std::uint8_t>('a' + byte % 3);
    }
    const Text text = text_of(input.text);
    const PieceSet pieces = random_pieces(random, text, random.below(48));
    if (random.below(2)) {
        CHECK(placed(pieces.bpe_model(), text) == bpe_slowly(pieces, text));
    } else {
        CHECK(placed(pieces.unigram_model(), text) == unigram_slowly(pieces, text));
    }
    return 0;
}

// Matches a text with tokens cut out of it, with random options, and compares with SlowMatcher.
#include "fuzz.hpp"
#include "match_kit.hpp"

using namespace toksmith;
using namespace toksmith::test;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size, 300);
    Random& random = input.random;
    if (random.below(2)) {
        for (std::uint8_t& byte : input.text) byte = static_cast<std::uint8_t>('a' + byte % 3);
    }
    const Text text = text_of(input.text);
    const wordpiece::Options options = random_options(random);
    check_match(random_tokens(random, text, options.prefix), options, text);
    return 0;
}

// Decodes ids, known and unknown, of a vocabulary cut out of the input.
#include "encode/decoder.hpp"
#include "fuzz.hpp"

using namespace toksmith;
using namespace toksmith::test;

int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    FuzzInput input(data, size);
    Random& random = input.random;
    std::vector<std::uint64_t> offsets = {0};
    while (offsets.back() < input.text.size()) {
        const std::size_t left = input.text.size() - offsets.back();
        offsets.push_back(offsets.back() + random.below(std::min<std::size_t>(left, 40) + 1));
    }
    const std::size_t vocab = offsets.size() - 1;
    std::vector<std::uint8_t> is_known;  // now and then not just what has bytes
    if (random.below(2) == 0) {
        is_known.resize(vocab);
        for (std::uint8_t& each : is_known) each = random.below(8) != 0;
    }
    const Decoder decoder(input.text, offsets, is_known);

    // Now and then so many that threads share them.
    std::vector<Id> ids(random.below(random.below(64) == 0 ? 300'000 : 300));
    const std::size_t highest = vocab + (random.below(4) == 0);
    for (Id& id : ids) id = highest ? static_cast<Id>(random.below(highest)) : 0;

    Bytes expected;
    std::size_t known = 0;
    for (; known < ids.size() && ids[known] < vocab; ++known) {
        const auto start = offsets[ids[known]], end = offsets[ids[known] + 1];
        if (is_known.empty() ? start == end : !is_known[ids[known]]) break;
        expected.insert(expected.end(), &input.text[start], &input.text[start] + (end - start));
    }
    const std::size_t unknown = decoder.first_unknown(ids.data(), ids.size());
    CHECK(unknown == (known == ids.size() ? Decoder::kAllKnown : known));
    CHECK(decoder.measure(ids.data(), ids.size(), 2).known() == (known == ids.size()));
    ids.resize(known);
    for (std::size_t threads = 1; threads <= 4; ++threads) {
        CHECK(decoded(decoder, ids, threads) == expected);
    }
    return 0;
}

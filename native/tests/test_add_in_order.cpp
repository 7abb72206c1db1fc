// Sums in stretches against one addition after the other.
#include <cmath>
#include <vector>

#include "kit.hpp"
#include "models/unigram/add_in_order.hpp"

namespace toksmith::test {

TEST(stretches_add_up_as_one_number_after_the_other) {
    Random random{31};
    for (int round = 0; round < 3000; ++round) {
        // Of few bits, numbers often lie half way between two steps of the sum.
        const float step = std::ldexp(1.0f, -static_cast<int>(random.below(24)));
        const std::size_t most = std::size_t{1} << (1 + random.below(20));
        std::vector<float> numbers(random.below(1200));
        for (float& number : numbers)
            number = -step * static_cast<float>(random.below(random.below(4) ? most : 3));
        const float start = -std::ldexp(static_cast<float>(random.below(1 << 24)),
                                        static_cast<int>(random.below(30)) - 24);
        float expected = start;
        for (const float number : numbers) expected += number;
        const auto number = [&](std::size_t i) { return numbers[i]; };
        CHECK(unigram::add_in_order(start, numbers.size(), number) == expected);
    }
}

}  // namespace toksmith::test

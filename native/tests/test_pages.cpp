// Memory on pages of both sizes.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "check.hpp"
#include "huge_array.hpp"

using namespace toksmith;

TEST(arrays_start_on_small_pages_and_go_on_with_huge_ones) {
    for (const std::size_t size : {std::size_t{1} << 12, std::size_t{3} << 20}) {
        for (const std::size_t small : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 12}) {
            const HugeArray<std::uint32_t> array(size, small);
            std::uint32_t* const begin = array.data();
            std::uint32_t* const end = begin + size;
#if defined(__linux__)
            const bool is_large = (size - small) * sizeof *begin >= pages::kHuge;
            CHECK(!is_large || pages::before_huge(begin + small) == 0);
#endif
            std::fill_n(begin, small, 1);
            if (small < size) array.ask_for(small, size);
            CHECK(std::count(begin, end, 0u) == static_cast<std::ptrdiff_t>(size - small));
            std::fill(begin, end, 7);
            CHECK(std::count(begin, end, 7u) == static_cast<std::ptrdiff_t>(size));
        }
    }
}

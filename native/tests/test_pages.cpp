// Memory on small and on huge pages.
#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "base/huge_page_array.hpp"
#include "check.hpp"

#if defined(__linux__)
#include <unistd.h>

#include <limits>
#include <vector>
#endif

using namespace toksmith;

TEST(arrays_are_aligned_like_their_elements) {
    struct alignas(64) Line {
        std::byte bytes[64];
    };
    for (const std::size_t size : {std::size_t{1}, std::size_t{64}, std::size_t{1} << 12}) {
        const HugePageArray<Line> array(size), other(size, size);
        for (const Line* line : {array.data(), other.data()})
            CHECK(reinterpret_cast<std::uintptr_t>(line) % alignof(Line) == 0);
    }
}

TEST(arrays_start_on_small_pages_and_go_on_with_huge_ones) {
    for (const std::size_t size : {std::size_t{1} << 12, std::size_t{3} << 20}) {
        for (const std::size_t small : {std::size_t{0}, std::size_t{1}, std::size_t{1} << 12}) {
            const HugePageArray<std::uint32_t> array(size, small);
            std::uint32_t* const begin = array.data();
            std::uint32_t* const end = begin + size;
#if defined(__linux__)
            const bool is_large = (size - small) * sizeof *begin >= pages::kHuge;
            CHECK(!is_large || pages::before_huge(begin + small) == 0);
#endif
            std::fill_n(begin, small, 1);
            if (small < size) array.populate(small, size);
            CHECK(std::count(begin, end, 0u) == static_cast<std::ptrdiff_t>(size - small));
            std::fill(begin, end, 7);
            CHECK(std::count(begin, end, 7u) == static_cast<std::ptrdiff_t>(size));
        }
    }
}

#if defined(__linux__)
TEST(requested_pages_of_any_size_are_populated) {
    constexpr std::size_t kPage = pages::detail::kPage, kBytes = 3 * pages::kHuge;
    const auto system_page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    // The number of pages of the system that have no memory in `bytes` bytes from `begin`.
    const auto missing_in = [system_page](char* begin, std::size_t bytes) {
        std::vector<unsigned char> there(bytes / system_page);
        CHECK(::mincore(begin, bytes, there.data()) == 0);
        return static_cast<std::size_t>(std::count_if(
            there.begin(), there.end(), [](unsigned char page) { return (page & 1) == 0; }));
    };
    for (const bool slow : {false, true}) {
        const HugePageArray<char> array(kBytes);
        char* const begin = array.data();
        // Linux before 5.14 populates touched pages only; qemu ignores the call.
        const bool brings = ::madvise(begin, kPage, 23) == 0 && missing_in(begin, kPage) == 0;
        pages::detail::small_left = slow ? std::numeric_limits<std::int64_t>::max() : 0;
        array.populate(0, kBytes - kPage);
        pages::detail::small_left = 0;
        const std::size_t missing = missing_in(begin, kBytes), most = kPage / system_page;
        CHECK(!brings || missing <= most);
        CHECK(!(brings && slow) || missing == most);  // no more than was requested
        CHECK(std::count(begin, begin + kBytes, 0) == static_cast<std::ptrdiff_t>(kBytes));
    }
}
#endif

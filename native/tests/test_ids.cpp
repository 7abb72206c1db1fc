// The memory of ids: allocating, keeping it for later results, and the output of several threads.
#include <algorithm>
#include <atomic>
#include <vector>

#include "check.hpp"
#include "encode/buffer_pool.hpp"
#include "encode/ordered_output.hpp"
#include "encode/result_buffer_cache.hpp"

using namespace toksmith;

namespace {

constexpr std::size_t kLarge = std::size_t{1} << 20;  // ids

void fill(IdArray& ids, std::size_t count) {
    ids.clear();
    for (std::size_t i = 0; i < count; ++i) ids.push(static_cast<Id>(i));
}

bool is_filled(const IdArray& ids, std::size_t count) {
    bool same = ids.size() == count;
    for (std::size_t i = 0; i < count && same; ++i) same = ids.data()[i] == i;
    return same;
}

}  // namespace

TEST(ids_grow_and_are_trimmed) {
    for (const std::size_t count : {std::size_t{1}, kLarge / 8, kLarge, 3 * kLarge + 5}) {
        for (const std::size_t reserved : {std::size_t{0}, count / 2, 2 * count, 17 * kLarge}) {
            IdArray ids;
            ids.reserve(reserved);
            fill(ids, count);
            CHECK(is_filled(ids, count));
            CHECK(ids.touched() >= count && ids.touched() <= ids.capacity());
            ids.resize(count / 3);
            ids.trim();
            CHECK(is_filled(ids, count / 3));
            CHECK(count < kLarge || ids.touched() == count / 3);
            fill(ids, count);
            CHECK(is_filled(ids, count));
        }
    }
}

TEST(a_large_array_stays_whole_when_a_stop_ends_its_move) {
    IdArray ids;
    fill(ids, 3 * kLarge);
    Stop stop;
    const Stop::Scope scope(stop);
    stop.request();
    CHECK_THROWS(ids.reserve(8 * kLarge), Stopped);
    CHECK(is_filled(ids, 3 * kLarge));
}

TEST(kept_ids_are_given_out_again) {
    ResultBufferCache kept(4 * kLarge * sizeof(Id));
    IdArray ids = kept.take(2 * kLarge);
    CHECK(ids.size() == 0 && ids.capacity() >= 2 * kLarge && ids.touched() == 0);
    fill(ids, kLarge);
    const Id* const memory = ids.data();
    kept.put(ids);
    CHECK(kept.take(kLarge - 1).data() != memory);  // the text is too small for this buffer
    IdArray again = kept.take(2 * kLarge + 1000);
    CHECK(again.size() == 0 && again.touched() >= kLarge);
    CHECK(kept.take(2 * kLarge + 1000).touched() == 0);  // the kept buffer was taken before
    fill(again, kLarge + 10);
    CHECK(is_filled(again, kLarge + 10));
}

TEST(kept_ids_are_given_out_again_however_many_a_text_has) {
    for (const std::size_t per_100_bytes : {1, 25, 50, 75, 99, 100}) {
        ResultBufferCache kept(4 * kLarge * sizeof(Id));
        const std::size_t bytes = 4 * kLarge * (per_100_bytes < 25 ? 7 : 1);
        IdArray ids = kept.take(bytes);
        const Id* const memory = ids.data();
        fill(ids, bytes / 100 * per_100_bytes);
        CHECK(ids.data() == memory);  // the array was not moved
        ids.trim();
        kept.put(ids);
        CHECK(kept.take(bytes).data() == memory);
    }
}

TEST(kept_ids_are_the_largest_within_bounds) {
    ResultBufferCache kept(2 * kLarge * sizeof(Id));
    const auto put = [&](std::size_t count) {
        IdArray ids;
        fill(ids, count);
        kept.put(ids);
    };
    const auto held = [&] {
        IdArray ids = kept.take(100 * kLarge);
        const std::size_t touched = ids.touched();
        kept.put(ids);
        return touched;
    };
    put(1000);
    CHECK(held() == 0);  // too small to keep
    put(3 * kLarge);
    CHECK(held() == 0);  // too large to keep
    put(kLarge / 2);
    const std::size_t first = held();
    CHECK(first >= kLarge / 2);
    put(kLarge);
    CHECK(held() > first);
    put(kLarge / 2);
    CHECK(held() > first);
    kept.forget(kLarge * sizeof(Id) / 2);
    CHECK(held() == 0);
    put(kLarge);
    CHECK(held() == 0);
}

TEST(streamed_copies_are_whole) {
    std::vector<Id> from(200);
    for (std::size_t i = 0; i < from.size(); ++i) from[i] = static_cast<Id>(i + 1);
    for (std::size_t shift = 0; shift < 20; ++shift) {
        for (std::size_t count = 0; count < 100; ++count) {
            std::vector<Id> to(150), expected(150);
            std::copy_n(from.data() + shift / 3, count, expected.data() + shift);
            stream_copy(from.data() + shift / 3, count, to.data() + shift);
            CHECK(to == expected);
        }
    }
}

TEST(tasks_of_threads_are_in_order) {
    for (const std::size_t threads : {2, 3, 8}) {
        for (const std::size_t reserved : {std::size_t{0}, std::size_t{1000}, kLarge, 5 * kLarge}) {
            const std::size_t runs = 200;
            IdArray result;
            result.reserve(reserved);
            OrderedOutput in_order(result, runs, threads);
            std::atomic<std::size_t> taken{0};
            run_on_threads(threads, [&](std::size_t thread) {
                BufferPool spare;
                for (std::size_t run = taken++; run < runs; run = taken++) {
                    const std::size_t size = run % 7 == 0 ? 0 : run * 37 % 1001;
                    IdArray ids = spare.take();
                    for (std::size_t i = 0; i < size; ++i)
                        ids.push(static_cast<Id>(run * 10'000 + i));
                    in_order.add(thread, run, std::move(ids), spare);
                }
            });
            in_order.finish();
            std::vector<Id> expected;
            for (std::size_t run = 0; run < runs; ++run) {
                const std::size_t size = run % 7 == 0 ? 0 : run * 37 % 1001;
                for (std::size_t i = 0; i < size; ++i) {
                    expected.push_back(static_cast<Id>(run * 10'000 + i));
                }
            }
            CHECK(std::vector<Id>(result.data(), result.data() + result.size()) == expected);
        }
    }
}

TEST(runs_that_one_thread_holds_back_come_at_the_end) {
    IdArray result;
    result.reserve(100);
    OrderedOutput in_order(result, 4, 2);
    BufferPool spare;
    const auto add = [&](std::size_t thread, std::size_t run) {
        IdArray ids;
        ids.push(static_cast<Id>(run));
        in_order.add(thread, run, std::move(ids), spare);
    };
    for (const std::size_t run : {1, 2, 3}) add(1, run);
    add(0, 0);
    in_order.finish();
    CHECK(is_filled(result, 4));
}

// One of two threads is always ahead, so that some of its ids always wait.
TEST(waiting_ids_take_little_memory) {
    constexpr std::size_t kRuns = 400, kMost = 1000, kAhead = 3;
    const auto size_of = [](std::size_t run) { return run % 7 ? kMost : 0; };
    IdArray result;
    result.reserve(kRuns * kMost);
    OrderedOutput in_order(result, kRuns, 2);
    BufferPool spare[2];
    std::size_t anew = 0;
    const auto add = [&](std::size_t thread, std::size_t run) {
        IdArray ids = spare[thread].take();
        CHECK(ids.size() == 0);
        anew += ids.capacity() == 0 && size_of(run) > 0;
        for (std::size_t i = 0; i < size_of(run); ++i) ids.push(static_cast<Id>(run * kMost + i));
        in_order.add(thread, run, std::move(ids), spare[thread]);
    };
    for (std::size_t i = 0; i < kRuns / 2 + kAhead; ++i) {
        if (i < kRuns / 2) add(1, 2 * i + 1);
        if (i >= kAhead) add(0, 2 * (i - kAhead));
    }
    in_order.finish();
    std::vector<Id> expected;
    for (std::size_t run = 0; run < kRuns; ++run) {
        for (std::size_t i = 0; i < size_of(run); ++i)
            expected.push_back(static_cast<Id>(run * kMost + i));
    }
    CHECK(std::vector<Id>(result.data(), result.data() + result.size()) == expected);
    CHECK(anew <= kAhead + 3);
}

// Pages are populated ahead of the ids, but not far ahead.
TEST(threads_touch_little_more_memory_than_they_fill) {
    constexpr std::size_t kRuns = 60, kSize = 50'000;
    IdArray result;
    result.reserve(20 * kRuns * kSize);
    OrderedOutput in_order(result, kRuns, 1);
    BufferPool spare;
    for (std::size_t run = 0; run < kRuns; ++run) {
        IdArray ids = spare.take();
        for (std::size_t i = 0; i < kSize; ++i) ids.push(static_cast<Id>(run * kSize + i));
        in_order.add(0, run, std::move(ids), spare);
    }
    in_order.finish();
    CHECK(is_filled(result, kRuns * kSize));
    CHECK(result.touched() <= kRuns * kSize + 2 * pages::kHuge / sizeof(Id));
    result.trim();
    CHECK(is_filled(result, kRuns * kSize));
}

TEST(spare_ids_are_few_and_small) {
    BufferPool spare;
    for (const std::size_t room : {100, 5000, 200, 300, 400}) {
        IdArray ids;
        ids.reserve(room);
        ids.push(1);
        spare.put(std::move(ids));
    }
    spare.trim(1000 * sizeof(Id));
    std::size_t held = 0;
    for (IdArray ids = spare.take(); ids.capacity() > 0; ids = spare.take()) {
        CHECK(ids.size() == 0 && ids.capacity() <= 1000);
        ++held;
    }
    CHECK(held == 2);
}

// Threads that share a job.
#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/parallel.hpp"
#include "base/stop.hpp"
#include "base/task_queue.hpp"
#include "base/team.hpp"
#include "check.hpp"
#include "failing_memory.hpp"

using namespace toksmith;
using namespace toksmith::test;

TEST(team_does_each_part_once) {
    for (const std::size_t threads : {1, 2, 3, 8}) {
        Team team(threads);
        CHECK(team.size() == threads);
        for (std::size_t parts = 0; parts < 300; ++parts) {
            std::vector<int> done(parts);
            team.run(parts, [&](std::size_t i) { ++done[i]; });
            CHECK(done == std::vector<int>(parts, 1));
        }
    }
}

TEST(team_rethrows_the_exception_of_a_part) {
    Team team(3);
    std::atomic<int> done{0};
    for (int round = 0; round < 50; ++round) {
        CHECK_THROWS(team.run(8,
                              [&](std::size_t i) {
                                  ++done;
                                  if (i % 3 == 1) throw std::range_error("part");
                              }),
                     std::range_error);
    }
    CHECK(done == 400);
    team.run(4, [&](std::size_t) { ++done; });
    CHECK(done == 404);
}

TEST(team_wakes_up) {
    Team team(2);
    std::atomic<int> done{0};
    for (int round = 0; round < 20; ++round) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // now all threads wait
        team.run(2, [&](std::size_t) { ++done; });
    }
    CHECK(done == 40);
}

namespace {

struct Interrupted : std::runtime_error {
    Interrupted() : std::runtime_error("Ctrl-C") {}
};

// Works until a Stop ends it; without a Stop, until the test is killed.
void work_for_ever() {
    for (;;) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        interruption_point();
    }
}

}  // namespace

TEST(a_stop_ends_all_threads_with_the_exception_of_its_poll) {
    for (const std::size_t threads : {1, 2, 5}) {
        Stop stop([]() -> bool { throw Interrupted(); });
        const Stop::Scope scope(stop);
        CHECK_THROWS(run_on_threads(threads, [](std::size_t) { work_for_ever(); }), Interrupted);
        CHECK(stop.requested());
        CHECK_THROWS(interruption_point(), Stopped);
    }
    CHECK(Stop::current() == nullptr);
    interruption_point();
}

TEST(the_caller_polls_while_it_waits_for_other_threads) {
    Stop stop([]() -> bool { throw Interrupted(); });
    const Stop::Scope scope(stop);
    const auto work = [](std::size_t thread) {
        if (thread != 0) work_for_ever();
    };
    CHECK_THROWS(run_on_threads(3, work), Interrupted);
    Stop again([]() -> bool { throw Interrupted(); });
    const Stop::Scope inner(again);
    Team team(2);
    std::atomic<bool> other_works{false};
    const auto caller = std::this_thread::get_id();
    CHECK_THROWS(team.run(2,
                          [&](std::size_t) {
                              if (std::this_thread::get_id() != caller) {
                                  other_works = true;
                                  work_for_ever();
                              }
                              while (!other_works) std::this_thread::yield();
                          }),
                 Interrupted);
}

TEST(a_poll_that_returns_false_is_not_called_again) {
    int polls = 0;
    Stop stop([&] { return ++polls < 2; });
    const Stop::Scope scope(stop);
    const auto end = std::chrono::steady_clock::now() + 5 * Stop::kInterval;
    while (std::chrono::steady_clock::now() < end) interruption_point();
    CHECK(polls == 2);
}

TEST(parts_of_a_range_end_at_interruption_points) {
    using Parts = std::vector<std::pair<std::size_t, std::size_t>>;
    Parts parts;
    const auto add = [&](std::size_t first, std::size_t last) { parts.emplace_back(first, last); };
    InterruptionPoints<10> points;
    points.step();
    points.in_parts(25, add);
    points.in_parts(0, add);
    points.in_parts(7, add);
    CHECK(parts == Parts({{0, 9}, {9, 19}, {19, 25}, {0, 0}, {0, 4}, {4, 7}}));
    Stop stop;
    const Stop::Scope scope(stop);
    stop.request();
    parts.clear();
    CHECK_THROWS(points.in_parts(7, add), Stopped);
    CHECK_THROWS(points.in_parts(30, add), Stopped);
    CHECK(parts == Parts({{0, 7}, {0, 10}}));
}

TEST(a_thread_that_fails_ends_the_others_but_not_the_call) {
    Stop stop;
    const Stop::Scope scope(stop);
    const auto work = [](std::size_t thread) {
        if (thread == 1) throw std::range_error("thread 1");
        work_for_ever();
    };
    CHECK_THROWS(run_on_threads(3, work), std::range_error);
    CHECK(!stop.requested());
    interruption_point();
    std::atomic<int> done{0};
    for_each_on_threads(2, 10, [&](std::size_t) { ++done; });
    CHECK(done == 10);
}

TEST(threads_that_get_no_memory_are_done_without) {
    constexpr std::size_t kParts = 20;
    std::array<std::atomic<int>, kParts> done{};
    const auto all_done_once = [&] {
        for (std::atomic<int>& times : done) CHECK(times.exchange(0) <= 1);
    };
    const std::size_t allocations = fail_each_allocation(
        kNothing, [&] { for_each_on_threads(4, kParts, [&](std::size_t i) { ++done[i]; }); },
        all_done_once);
    CHECK(allocations >= 4);  // at least one for each thread
    for (const std::atomic<int>& times : done) CHECK(times == 1);
    all_done_once();
    const std::size_t of_team = fail_each_allocation(
        kNothing,
        [&] {
            Team team(4);
            team.run(kParts, [&](std::size_t i) { ++done[i]; });
        },
        all_done_once);
    CHECK(of_team >= 4);
    for (const std::atomic<int>& times : done) CHECK(times == 1);
}

TEST(a_queue_gives_each_task_once_and_in_order) {
    for (const std::size_t threads : {1, 2, 3, 8}) {
        for (const std::size_t tasks : {0, 1, 7, 1000}) {
            TaskQueue queue(tasks, threads);
            std::vector<std::atomic<int>> done(tasks);
            run_on_threads(threads, [&](std::size_t thread) {
                std::size_t next = 0;
                queue.work_off(thread, [&](std::size_t task) {
                    CHECK(task >= next);
                    next = task + 1;
                    ++done[task];
                });
            });
            for (const std::atomic<int>& times : done) CHECK(times == 1);
        }
    }
}

TEST(the_failure_of_the_first_task_is_thrown) {
    for (const std::size_t threads : {1, 2, 3, 8}) {
        for (int round = 0; round < 20; ++round) {
            constexpr std::size_t kRuns = 200, kFirst = 50;
            TaskQueue queue(kRuns, threads);
            std::vector<std::atomic<int>> done(kRuns);
            run_on_threads(threads, [&](std::size_t thread) {
                queue.work_off(thread, [&](std::size_t run) {
                    if (run == kFirst)  // the last one to fail
                        std::this_thread::sleep_for(std::chrono::milliseconds(1));
                    if (run >= kFirst && run % 3 != 0) throw std::range_error(std::to_string(run));
                    ++done[run];
                });
            });
            std::string thrown;
            try {
                queue.rethrow_failure();
            } catch (const std::range_error& error) {
                thrown = error.what();
            }
            CHECK(thrown == "50", thrown);
            for (std::size_t run = 0; run < kFirst; ++run) CHECK(done[run] == 1);
            CHECK(done[kRuns - 2] == 0);
        }
    }
}

TEST(tasks_after_one_that_failed_are_stopped) {
    TaskQueue queue(2, 2);
    std::atomic<bool> works{false};
    run_on_threads(2, [&](std::size_t thread) {
        queue.work_off(thread, [&](std::size_t run) {
            if (run == 1) {
                works = true;
                work_for_ever();
            }
            while (!works) std::this_thread::yield();
            throw std::range_error("run 0");
        });
    });
    CHECK_THROWS(queue.rethrow_failure(), std::range_error);
}

TEST(a_stop_ends_a_queue) {
    for (const std::size_t threads : {1, 3}) {
        Stop stop([]() -> bool { throw Interrupted(); });
        const Stop::Scope scope(stop);
        TaskQueue queue(100, threads);
        const auto work = [&](std::size_t thread) {
            queue.work_off(thread, [](std::size_t) { work_for_ever(); });
        };
        CHECK_THROWS(run_on_threads(threads, work), Interrupted);
    }
}

// Whichever thread runs it, and even after stops of other tasks were requested.
TEST(a_task_before_one_that_failed_runs_to_its_end) {
    TaskQueue queue(4, 3);
    std::atomic<int> begun{0};
    std::atomic<bool> has_failed{false};
    run_on_threads(3, [&](std::size_t thread) {
        queue.work_off(thread, [&](std::size_t task) {
            ++begun;
            while (begun < 3) std::this_thread::yield();
            if (task == 1) {
                has_failed = true;
                throw std::range_error("task 1");
            }
            if (task == 2) work_for_ever();
            while (!has_failed) std::this_thread::yield();
            interruption_point();
            throw std::range_error("task 0");
        });
    });
    std::string thrown;
    try {
        queue.rethrow_failure();
    } catch (const std::range_error& error) {
        thrown = error.what();
    }
    CHECK(thrown == "task 0", thrown);
}

// Threads that share a job.
#include <algorithm>
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "parallel/parallel.hpp"
#include "parallel/team.hpp"
#include "parallel/turns.hpp"

using namespace toksmith;

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

TEST(team_throws_what_a_part_throws) {
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
        std::this_thread::sleep_for(std::chrono::milliseconds(1));  // all wait by then
        team.run(2, [&](std::size_t) { ++done; });
    }
    CHECK(done == 40);
}

TEST(turns_give_each_run_once) {
    for (const std::size_t threads : {1, 2, 3, 8}) {
        for (const std::size_t runs : {0, 1, 7, 1000}) {
            Turns turns(runs, threads);
            std::vector<std::atomic<int>> done(runs);
            run_on_threads(threads, [&](std::size_t thread) {
                while (const auto run = turns.take(thread)) ++done[*run];
            });
            for (const std::atomic<int>& times : done) CHECK(times == 1);
        }
    }
}

TEST(turns_come_to_each_thread_and_are_taken_over) {
    Turns turns(60, 2);
    for (std::size_t run = 0; run < 20; run += 2) {
        CHECK(turns.take(0) == run);
        CHECK(turns.take(1) == run + 1);
    }
    // The second thread stops: the first goes ahead by some runs, and then does those as well.
    std::vector<std::size_t> alone;
    while (const auto run = turns.take(0)) alone.push_back(*run);
    CHECK(alone.size() == 40 && alone[0] == 20 && alone[1] == 22);
    CHECK(std::find(alone.begin(), alone.end(), 21) < std::find(alone.begin(), alone.end(), 42));
    CHECK(!turns.take(1));
}

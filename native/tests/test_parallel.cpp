// Threads that share a job.
#include <atomic>
#include <chrono>
#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "parallel/team.hpp"

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

// Runs the tests whose name contains the first argument, or all.
#include <cstdio>
#include <cstring>
#include <exception>

#include "check.hpp"

int main(int argc, char** argv) {
    int run = 0, failed = 0;
    for (const toksmith::test::Test& test : toksmith::test::tests()) {
        if (argc > 1 && !std::strstr(test.name, argv[1])) continue;
        ++run;
        try {
            test.run();
        } catch (const std::exception& error) {
            ++failed;
            std::printf("FAILED %s: %s\n", test.name, error.what());
        }
    }
    std::printf("%d native tests, %d failed\n", run, failed);
    return failed > 0 || run == 0;
}

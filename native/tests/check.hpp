// A minimal test framework: TEST(name) { CHECK(...); }
#pragma once

#include <stdexcept>
#include <string>
#include <vector>

namespace toksmith::test {

struct Test {
    const char* name;
    void (*run)();
};

inline std::vector<Test>& tests() {
    static std::vector<Test> all;
    return all;
}

struct Registered {
    Registered(const char* name, void (*run)()) { tests().push_back({name, run}); }
};

// Fuzz targets do not catch it, so the process aborts.
struct Failure : std::runtime_error {
    using std::runtime_error::runtime_error;
};

inline void check(bool holds, const char* file, int line, const char* what,
                  const std::string& note = "") {
    if (holds) return;
    throw Failure(std::string(file) + ":" + std::to_string(line) + ": " + what +
                  (note.empty() ? "" : " [" + note + "]"));
}

}  // namespace toksmith::test

#define TEST(name)                                                                 \
    static void test_##name();                                                     \
    static const toksmith::test::Registered registered_##name(#name, test_##name); \
    static void test_##name()

// CHECK(condition) or CHECK(condition, note): ends the test if the condition is false.
#define CHECK(condition, ...) \
    toksmith::test::check((condition), __FILE__, __LINE__, #condition __VA_OPT__(, ) __VA_ARGS__)

#define CHECK_THROWS(expression, Error)               \
    do {                                              \
        bool thrown = false;                          \
        try {                                         \
            expression;                               \
        } catch (const Error&) {                      \
            thrown = true;                            \
        }                                             \
        CHECK(thrown, #expression " throws " #Error); \
    } while (false)

// Runs a fuzz target on random inputs without libFuzzer, with the same arguments:
//   fuzz_x [-max_total_time=SECONDS] [-seed=NUMBER]    random inputs
//   fuzz_x FILE...                                     these inputs
// Writes an input that fails to fuzz_x.input, so that it can be run again.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <fstream>
#include <iterator>

#include "fuzz.hpp"

using namespace toksmith::test;

extern "C" __attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)());

namespace {

Bytes input;
std::string kept;

void keep_input() {
    std::ofstream(kept, std::ios::binary)
        .write(reinterpret_cast<const char*>(input.data()), std::ssize(input));
    std::fprintf(stderr, "failing input: %s\n", kept.c_str());
}

[[noreturn]] void fail() {
    try {
        std::rethrow_exception(std::current_exception());
    } catch (const std::exception& error) {
        std::fprintf(stderr, "FAILED: %s\n", error.what());
    }
    keep_input();
    std::_Exit(1);
}

}  // namespace

int main(int argc, char** argv) {
    std::uint64_t seconds = 10, seed = 1, runs = 0;
    for (int i = 1; i < argc; ++i) {
        const std::string argument = argv[i];
        if (argument.starts_with("-max_total_time=")) {
            seconds = std::stoull(argument.substr(16));
        } else if (argument.starts_with("-seed=")) {
            seed = std::stoull(argument.substr(6));
        } else {
            std::ifstream file(argument, std::ios::binary);
            if (!file) return std::fprintf(stderr, "cannot read %s\n", argv[i]), 2;
            input.assign(std::istreambuf_iterator<char>(file), {});
            LLVMFuzzerTestOneInput(input.data(), input.size());
            ++runs;
        }
    }
    if (runs > 0) return 0;

    kept = std::string(argv[0]) + ".input";
    std::set_terminate(fail);
    if (__sanitizer_set_death_callback) __sanitizer_set_death_callback(keep_input);
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
    Random random{seed};
    for (; std::chrono::steady_clock::now() < end; ++runs) {
        input = random_text(random, 2 + random.below(1u << random.below(9)));
        input.shrink_to_fit();
        for (std::size_t i = 0; i < std::min(FuzzInput::kHeader, input.size()); ++i) {
            input[i] = static_cast<std::uint8_t>(random.next());
        }
        LLVMFuzzerTestOneInput(input.data(), input.size());
    }
    std::printf("%s: %llu inputs\n", argv[0], static_cast<unsigned long long>(runs));
}

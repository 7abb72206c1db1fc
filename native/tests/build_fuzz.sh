#!/bin/sh
# Builds the fuzz targets of the kernel with sanitizers: build_fuzz.sh FOLDER
#
# With clang 16 or newer, libFuzzer runs them. With another compiler, fuzz_main.cpp runs them on random inputs. As in an
# OSS-Fuzz build, CXX and CXXFLAGS choose the compiler and its flags, and the targets are copied to OUT if that is set.
set -eu
folder=$1
if [ -z "${CXX:-}" ]; then
    CXX=c++
    # Older ones lack parts of C++20.
    clang=$(clang++ -dumpversion 2> /dev/null || echo 0)
    if [ "${clang%%.*}" -ge 16 ]; then CXX=clang++; fi
fi
export CXX
sanitizers=address,undefined
if "$CXX" --version | grep -q clang; then sanitizers=$sanitizers,fuzzer-no-link; fi
# -O1 compiles in half the time.
cmake -S "$(dirname "$0")/../.." -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DTOKSMITH_MODULE=OFF -DTOKSMITH_TESTS=ON \
    -DTOKSMITH_SANITIZE="$sanitizers" > /dev/null
cmake --build "$folder" --target fuzz_targets
if [ -n "${OUT:-}" ]; then
    find "$folder/native/tests" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x -exec cp {} "$OUT" \;
fi

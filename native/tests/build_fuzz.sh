#!/bin/sh
# Builds the fuzz targets of the kernel with sanitizers: build_fuzz.sh FOLDER
#
# With clang, libFuzzer runs them. With another compiler, fuzz_main.cpp runs them on random inputs. As in an
# OSS-Fuzz build, CXX and CXXFLAGS choose the compiler and its flags, and the targets are copied to OUT if that is set.
set -eu
folder=$1
: "${CXX:=$(command -v clang++ || command -v c++)}"
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

#!/bin/sh
# Builds the fuzz targets of the kernel: build_fuzz.sh FOLDER
#
# By default with the newest clang that is installed (16 or newer), libFuzzer, and the address and undefined-behaviour
# sanitizers; without such a clang, with c++, the sanitizers, and fuzz_main.cpp, which makes random inputs.
#
# CC, CXX, CFLAGS, CXXFLAGS, LIB_FUZZING_ENGINE and OUT mean what they mean in an OSS-Fuzz build: if the engine is set, the
# flags choose the sanitizers; the targets, their seeds and options are copied to OUT.
set -eu
here=$(dirname "$0")
folder=$1
if [ -z "${CXX:-}" ]; then
    CXX=c++
    # Older ones lack parts of C++20.
    for clang in clang++ $(seq -f 'clang++-%g' 30 -1 16); do
        version=$("$clang" -dumpversion 2> /dev/null || echo 0)
        if [ "${version%%.*}" -ge 16 ]; then
            CXX=$clang
            break
        fi
    done
fi
export CXX
sanitizers=
engine=${LIB_FUZZING_ENGINE:-}
if [ -z "$engine" ]; then
    sanitizers=address,undefined
    if "$CXX" --version | grep -q clang; then
        sanitizers=$sanitizers,fuzzer-no-link
        engine=-fsanitize=fuzzer
    fi
fi
# -O1 compiles in half the time.
cmake -S "$here/../.." -B "$folder" -G Ninja -DCMAKE_BUILD_TYPE=Release \
    -DCMAKE_CXX_FLAGS_RELEASE="-O1 -DNDEBUG" -DTOKSMITH_MODULE=OFF -DTOKSMITH_TESTS=ON \
    -DTOKSMITH_SANITIZE="$sanitizers" -DTOKSMITH_FUZZING_ENGINE="$engine" > /dev/null
cmake --build "$folder" --target fuzz_targets
if [ -n "${OUT:-}" ]; then
    find "$folder/native/tests" -maxdepth 1 -name 'fuzz_*' -type f -perm -u+x -exec cp {} "$OUT" \;
    python3 "$here/fuzz.py" "$folder/native/tests" --seeds "$OUT"
fi

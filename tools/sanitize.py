"""Build the kernel with sanitizers, run all tests with it, and say what ran: ``make sanitize``.

    python -m tools.sanitize                       # everything
    python -m tools.sanitize leaks tests/unit      # pieces: names, folders and files of tests

AddressSanitizer and UndefinedBehaviorSanitizer are one build, ThreadSanitizer is another. A finding
ends the process. Reports go to files, so that one of a child process is noticed as well. Findings
are not suppressed. ``tests/sanitizing.py`` lists the Python tests that cannot run. CXX names the
compiler, gcc or clang; without it, the fuzz targets take the newest clang that is installed.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import re
import shutil
import subprocess
import sys
import sysconfig
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from functools import cache
from pathlib import Path
from xml.etree import ElementTree

ROOT = Path(__file__).parents[1]
REPORTS = ROOT / "build/sanitize-reports"

COMPILER = os.environ.get("CXX", "c++")
SANITIZERS = {"address": "address,undefined", "thread": "thread"}

THREADED = [
    "tests/unit/test_threads.py",
    "tests/unit/test_encoding_threads.py",
    "tests/unit/test_training_threads.py",
    "tests/unit/test_kept_results.py",
    "tests/unit/counting/test_jobs.py",
    "tests/unit/test_shutdown.py",
    "tests/unit/test_interrupts.py",
    "tests/differential/test_merging_in_phases.py",
    "tests/differential/test_counted_words.py",
    "tests/properties/test_tokenizer.py",
    "tests/properties/test_counts.py",
]
"""The Python tests in which several threads run in the kernel."""

PIECES = {
    "native-thread": "native tests, ThreadSanitizer",
    "native-address": "native tests, ASan, UBSan, LeakSanitizer",
    "fuzz": "fuzz targets, ASan and UBSan",
    "python-thread": "Python tests of threads, ThreadSanitizer",
    "leaks": "load, encode, drop in Python, LeakSanitizer",
}
ROUNDS = 50
PLANTED = 4321
"""Bytes that each round of the check for leaks leaks itself: they must be reported."""
KERNEL = re.compile(r"/native/(kernel|bindings)/|/_kernel\.")
"""A frame of the kernel in a report."""
CYCLE = """
import ctypes, gc, sys, toksmith
from toksmith.engine.counting import ChunkCounter
from toksmith.splitters import splitter
from toksmith import _kernel
assert "build/sanitize-" in _kernel.__file__, _kernel.__file__
TEXT = "low lower lowest new newer newest höher 12 " * 4
SIZES = {"bpe": 265, "wordpiece": 39, "unigram": 24, "sentencepiece-bpe": 30}
malloc = ctypes.CDLL(None).malloc
for round in range(int(sys.argv[2])):
    malloc(int(sys.argv[3]))
    for model, size in SIZES.items():
        path = f"{sys.argv[1]}/{model}" + (".model" if "sentence" in model else ".json")
        if not round:
            made = toksmith.train(texts=[TEXT] * 9, model=model, vocab_size=size, progress=False)
            made.save(path)
        tok = toksmith.load(path)
        tok.decode(tok.encode(TEXT))
        tok.encode_batch([TEXT, TEXT[:9]], threads=2)
        tok.encode_array(TEXT, threads=2)
        tok.encoding(TEXT)
        tok.count(TEXT)
    counter = ChunkCounter(splitter("gpt4"), 2)
    counter.add_texts([TEXT] * 20)
    counter.finish()
    toksmith.train(texts=[TEXT] * 9, vocab_size=265, progress=False)
    del tok, counter
    gc.collect()
    print("round ended", flush=True)
"""


@dataclass
class Result:
    """What a piece ran: tests or inputs, those that did not pass, and its seconds."""

    name: str
    ran: int = 0
    skipped: int = 0
    left_out: int = 0
    failed: int = 0
    reports: int = 0
    seconds: float = 0.0

    @property
    def is_good(self) -> bool:
        return self.ran > 0 and not self.failed and not self.reports


def main() -> int:
    """Run the pieces that the command line names, and print a table of them."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("pieces", nargs="*", help="default: all")
    parser.add_argument("--seconds", type=int, default=20, help="of each fuzz target")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    given = parser.parse_args()
    pieces = given.pieces or [*PIECES, *folders()]
    for sanitizer in SANITIZERS:
        if any(sanitizer_of(piece) == sanitizer for piece in pieces if piece != "fuzz"):
            build(sanitizer, given.jobs)
    results = [run(piece, given) for piece in pieces]
    print(f"\n{'piece':44}{'ran':>10}{'skipped':>9}{'left out':>10}{'failed':>8}{'reports':>9}"
          f"{'seconds':>9}")  # fmt: skip
    for result in results:
        print(line(result))
    bad = [result.name for result in results if not result.is_good]
    print(f"failed: {', '.join(bad)}; see {REPORTS}" if bad else "no finding")
    return 1 if bad else 0


def line(result: Result) -> str:
    """Return a result as a line of the table."""
    name = f"{result.name} ({PIECES[result.name]})" if result.name in PIECES else result.name
    return (
        f"{name[:43]:44}{result.ran:10,}{result.skipped:9,}{result.left_out:10,}"
        f"{result.failed:8,}{result.reports:9,}{result.seconds:9,.0f}"
    )


def folders() -> list[str]:
    """Return the folders of Python tests, and the files of tests beside them."""
    tests = ROOT / "tests"
    found = [path for path in sorted(tests.iterdir()) if any(path.rglob("test_*.py"))]
    return [str(path.relative_to(ROOT)) for path in [*found, *sorted(tests.glob("test_*.py"))]]


@cache
def is_clang() -> bool:
    return "clang" in subprocess.check_output([COMPILER, "--version"], text=True)


def libraries(sanitizer: str) -> Iterator[str]:
    """Yield the libraries that must be loaded before the module that was built with them."""
    kinds = {"address": ["asan"] if is_clang() else ["asan", "ubsan"], "thread": ["tsan"]}
    for kind in kinds[sanitizer]:
        name = f"libclang_rt.{kind}-{platform.machine()}.so" if is_clang() else f"lib{kind}.so"
        yield subprocess.check_output([COMPILER, f"-print-file-name={name}"], text=True).strip()


def built(sanitizer: str) -> Path:
    return ROOT / f"build/sanitize-{sanitizer}"


def sanitizer_of(piece: str) -> str:
    return "thread" if piece.endswith("-thread") else "address"


def build(sanitizer: str, jobs: int) -> None:
    """Build the kernel, its tests and the Python module, and a copy of the package around it."""
    folder = built(sanitizer)
    nanobind = subprocess.check_output([sys.executable, "-m", "nanobind", "--cmake_dir"], text=True)
    configure = [
        *("cmake", "-S", ROOT, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={COMPILER}"),
        # -O1 compiles in half the time. The module of a Release has no symbols.
        *("-DCMAKE_BUILD_TYPE=RelWithDebInfo", "-DCMAKE_CXX_FLAGS_RELWITHDEBINFO=-O1 -DNDEBUG"),
        *("-DTOKSMITH_TESTS=ON", f"-DTOKSMITH_SANITIZE={SANITIZERS[sanitizer]}"),
        *(f"-DPython_EXECUTABLE={sys.executable}", f"-Dnanobind_DIR={nanobind.strip()}"),
    ]
    subprocess.run(configure, check=True, stdout=subprocess.DEVNULL)
    targets = ["toksmith_tests", "_kernel"]
    subprocess.run(["cmake", "--build", folder, "-j", str(jobs), "--target", *targets], check=True)
    package = folder / "package/toksmith"
    shutil.rmtree(package, ignore_errors=True)
    shutil.copytree(
        ROOT / "src/toksmith", package, ignore=shutil.ignore_patterns("*.so", "__pycache__")
    )
    module = f"_kernel{sysconfig.get_config_var('EXT_SUFFIX')}"
    shutil.copy2(folder / module, package / module)


def environment(reports: Path) -> dict[str, str]:
    """Return the variables for native programs; reports go to files that begin with a path."""
    common = f"log_path={reports}:print_stacktrace=1"
    return {
        **os.environ,
        "ASAN_OPTIONS": f"{common}:detect_stack_use_after_return=1:strict_string_checks=1",
        "UBSAN_OPTIONS": common,
        "TSAN_OPTIONS": f"{common}:second_deadlock_stack=1",
    }


def python_environment(sanitizer: str, reports: Path) -> dict[str, str]:
    """Return the variables for Python, which was built without sanitizers."""
    variables = environment(reports)
    variables["LD_PRELOAD"] = " ".join(libraries(sanitizer))
    variables["PYTHONPATH"] = os.pathsep.join([str(built(sanitizer) / "package"), str(ROOT)])
    # Python itself leaks what it made at its start. A length beyond all memory is a MemoryError.
    variables["ASAN_OPTIONS"] += ":detect_leaks=0:allocator_may_return_null=1"
    if sanitizer == "address":
        variables["PYTHONMALLOC"] = "malloc"  # to find reads beyond short strings
    return variables


def run(piece: str, given: argparse.Namespace) -> Result:
    """Run a piece, keep its output and result in files, and print its line."""
    name = re.sub(r"\W+", "-", piece)
    reports = REPORTS / name
    shutil.rmtree(reports, ignore_errors=True)
    reports.mkdir(parents=True)
    result = Result(piece)
    begun = time.monotonic()
    sanitizer = sanitizer_of(piece)
    if piece.startswith("native-"):
        run_native(result, sanitizer, reports)
    elif piece == "fuzz":
        run_fuzz(result, reports, given)
    elif piece == "leaks":
        run_leaks(result, reports)
    else:
        run_python(result, sanitizer, reports, THREADED if piece in PIECES else [piece], given.jobs)
    result.seconds = round(time.monotonic() - begun, 1)
    if piece != "leaks":
        result.reports = len([*reports.glob("report.*")])
    (reports / "result.json").write_text(json.dumps(asdict(result)))
    print(line(result), flush=True)
    return result


def logged(reports: Path, command: list[str | Path], variables: dict[str, str]) -> tuple[int, str]:
    """Run a command whose output goes to a file; return its exit code and output."""
    log = reports / "output.txt"
    with log.open("wb") as file:
        done = subprocess.run(
            command, cwd=ROOT, env=variables, stdout=file, stderr=subprocess.STDOUT, check=False
        )
    return done.returncode, log.read_text(errors="replace")


def run_native(result: Result, sanitizer: str, reports: Path) -> None:
    tests = built(sanitizer) / "native/tests/toksmith_tests"
    code, output = logged(reports, [tests], environment(reports / "report"))
    found = re.search(r"(\d+) native tests, (\d+) failed", output)
    result.ran, result.failed = (int(found[1]), int(found[2])) if found else (0, 1)
    if code and not result.failed:
        result.failed = 1


def run_fuzz(result: Result, reports: Path, given: argparse.Namespace) -> None:
    """Build and run the fuzz targets, which have a build of their own."""
    folder = ROOT / "build/fuzz-native"
    subprocess.run([ROOT / "native/tests/build_fuzz.sh", folder], check=True)
    command = [
        *(sys.executable, ROOT / "native/tests/fuzz.py", folder / "native/tests"),
        *("--seconds", str(given.seconds), "--jobs", str(given.jobs)),
    ]
    code, output = logged(reports, command, dict(os.environ))
    inputs = re.findall(r"^fuzz_\w+ +([\d,]+) ", output, re.MULTILINE)
    result.ran = sum(int(number.replace(",", "")) for number in inputs)
    result.failed = max(output.count("failed: fuzz_"), int(code != 0))


def run_python(result: Result, sanitizer: str, reports: Path, tests: list[str], jobs: int) -> None:
    variables = python_environment(sanitizer, reports / "report")
    xml = reports / "junit.xml"
    command = [
        *(sys.executable, "-m", "pytest", "-p", "tests.sanitizing", "-p", "no:cacheprovider"),
        *(f"--junitxml={xml}", *tests),
        *(("-n", str(jobs), "--dist", "worksteal") if jobs > 1 else ()),
    ]
    code, _ = logged(reports, command, variables)
    if xml.exists():
        for outcome in outcomes(xml):
            setattr(result, outcome, getattr(result, outcome) + 1)
    if code and not result.failed:
        result.failed = 1


def outcomes(xml: Path) -> Iterator[str]:
    """Yield the outcome of each test of a JUnit XML report, as a name of a field of a result."""
    for case in ElementTree.parse(xml).iter("testcase"):
        skip = case.find("skipped")
        if case.find("failure") is not None or case.find("error") is not None:
            yield "failed"
        elif skip is None:
            yield "ran"
        else:
            yield "left_out" if skip.get("message", "").startswith("left out:") else "skipped"


def run_leaks(result: Result, reports: Path) -> None:
    """Look for blocks of the kernel that each round leaves behind, and for the planted leak."""
    variables = python_environment("address", reports / "report")
    variables["ASAN_OPTIONS"] += ":detect_leaks=1:fast_unwind_on_malloc=0:malloc_context_size=30"
    variables["LSAN_OPTIONS"] = f"log_path={reports / 'report'}"
    command = [sys.executable, "-c", CYCLE, reports, str(ROUNDS), str(PLANTED)]
    _, output = logged(reports, command, variables)
    result.ran = output.count("round ended")
    found = "".join(path.read_text(errors="replace") for path in reports.glob("report.*"))
    result.failed = ROUNDS - result.ran + (not has_planted_leak(found))
    result.reports = len([*leaks_of_rounds(found)])


def has_planted_leak(report: str) -> bool:
    """Return whether LeakSanitizer worked: it reports the leak that each round makes."""
    leaks = re.findall(r"leak of (\d+) byte\(s\) in (\d+) object", report)
    return any(int(size) == PLANTED * int(blocks) for size, blocks in leaks)


def leaks_of_rounds(report: str) -> Iterator[str]:
    """Yield the leaks of the kernel of at least as many blocks as there are rounds."""
    for leak in report.split("\n\n"):
        blocks = re.search(r"leak of \d+ byte\(s\) in (\d+) object", leak)
        if blocks and int(blocks[1]) >= ROUNDS and KERNEL.search(leak):
            yield leak


if __name__ == "__main__":
    sys.exit(main())

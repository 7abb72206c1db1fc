"""List the tests that were skipped in every environment: ``make test-frameworks``.

Reads the JUnit XML reports of pytest, one an environment. A test that every environment skipped
because a package is missing fails the run: each framework must be tested in one of them.

    python -m tools.tests_never_run REPORT.xml ...
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

MISSING = ("is not installed", "could not import")


def never_run(reports: Iterable[Path]) -> dict[str, str]:
    """Return the tests that no report has run, with the reason of the first one that skipped it."""
    skipped: dict[str, str] = {}
    run: set[str] = set()
    for report in reports:
        for case in ElementTree.parse(report).iter("testcase"):
            name = ".".join(filter(None, (case.get("classname"), case.get("name"))))
            skip = case.find("skipped")
            if skip is None:
                run.add(name)
            else:
                skipped.setdefault(name, skip.get("message", ""))
    # A module that one environment skipped as a whole is a test of the module's name there.
    modules = {name.partition("[")[0].rpartition(".")[0] for name in run}
    return {name: why for name, why in skipped.items() if name not in run | modules}


def main() -> int:
    """Print the tests, and return 1 if one of them lacked a package."""
    left = never_run(Path(name) for name in sys.argv[1:])
    for name, why in left.items():
        print(f"{name} ran in no environment: {why}")
    return int(any(part in why for why in left.values() for part in MISSING))


if __name__ == "__main__":
    sys.exit(main())

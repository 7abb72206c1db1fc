"""Optional packages that are missing, and packages whose import fails for another reason."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

import toksmith
from toksmith._base import lazy
from toksmith._base.report import frame
from toksmith.compat.sentencepiece import messages
from toksmith.corpus.remote import expand_url
from toksmith.errors import MissingExtraError
from toksmith.formats import hub
from toksmith.measure.sample_counts import Sample
from toksmith.show.unicode import unicode_text

SOURCE = Path(toksmith.__file__).parent
FAILED = r"importing {} failed \(lib.so: failed to map segment\): reinstall it, or let "
FAILURES = {
    "ImportError": "raise ImportError('lib.so: failed to map segment', name='{}._c')",
    "OSError": "raise OSError('lib.so: failed to map segment')",
    "advice": "try:\n    raise ImportError('lib.so: failed to map segment')\n"
    "except ImportError as wrong:\n    raise ImportError('\\nREAD THIS\\n\\nadvice') from wrong",
}

Break = Callable[[str, str], None]


@pytest.fixture
def break_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Break:
    """``break_package(name, code)``: put a package of that code in place of the real one."""

    def replace(name: str, code: str) -> None:
        for module in [each for each in sys.modules if f"{each}.".startswith(f"{name}.")]:
            monkeypatch.delitem(sys.modules, module)
        folder = tmp_path.joinpath(*name.split("."))
        folder.mkdir(parents=True)
        (folder / "__init__.py").write_text(code.replace("{}", name))
        monkeypatch.syspath_prepend(str(tmp_path))

    return replace


@pytest.mark.parametrize("failure", FAILURES)
def test_a_package_that_cannot_be_imported(break_package: Break, failure: str) -> None:
    break_package("broken", FAILURES[failure])
    for name in ("broken", "broken.part"):
        with pytest.raises(MissingExtraError, match=FAILED.format("broken")) as caught:
            lazy.extra(name, "arrow")
        assert "\n" not in str(caught.value)
        assert not lazy.is_missing(caught.value)


def test_a_dependency_is_missing(break_package: Break) -> None:
    break_package("broken", "import no_such_module")
    reason = r"importing broken failed \(No module named 'no_such_module'\)"
    with pytest.raises(MissingExtraError, match=reason):
        lazy.extra("broken", "arrow")


@pytest.mark.parametrize("name", ["no_such_module", "no_such_module.part"])
def test_a_missing_package(name: str) -> None:
    message = r"no_such_module is not installed: pip install toksmith\[arrow\]"
    with pytest.raises(MissingExtraError, match=message) as caught:
        lazy.extra(name, "arrow")
    assert lazy.is_missing(caught.value)


CALLS: dict[str, Callable[[], object]] = {
    "pandas": lambda: frame([{"a": 1}], "pandas"),
    "huggingface_hub": lambda: hub.download("some/model"),
    "gcsfs": lambda: expand_url("gs://bucket/a.txt"),
    "icu4py": lambda: toksmith.words("low"),
    "pyarrow": lambda: toksmith.get("toksmith-small").encode_batch(["low"]).to_arrow(),
    "google": messages.message_classes.__wrapped__,
}


@pytest.mark.parametrize("package", CALLS)
def test_every_use_says_why(break_package: Break, package: str) -> None:
    break_package(package, FAILURES["ImportError"])
    with pytest.raises(MissingExtraError, match=FAILED.format(package)):
        CALLS[package]()


def test_what_a_file_system_of_fsspec_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "paramiko", None)
    monkeypatch.delitem(sys.modules, "fsspec.implementations.sftp", raising=False)
    with pytest.raises(MissingExtraError, match=r"sftp:// needs the package paramiko: pip install"):
        expand_url("sftp://host/a.txt")


def test_a_data_frame_of_the_library_that_works(break_package: Break) -> None:
    pytest.importorskip("polars")
    break_package("pandas", FAILURES["ImportError"])
    assert type(frame([{"a": 1}])).__module__.startswith("polars")


def test_no_figure_is_left_out_because_an_import_fails(break_package: Break) -> None:
    break_package("icu4py", FAILURES["ImportError"])
    for call in (lambda: Sample.of([b"low"]), lambda: unicode_text("low")):
        with pytest.raises(MissingExtraError, match=FAILED.format("icu4py")):
            call()


def test_one_function_decides_what_is_missing() -> None:
    made = [path for path in SOURCE.rglob("*.py") if "MissingExtraError(" in path.read_text()]
    assert {path.name for path in made} == {"errors.py", "lazy.py"}

"""Nothing in the package executes code from a file: where code could be executed, it is listed."""

from __future__ import annotations

import ast
import json
from collections.abc import Iterator
from pathlib import Path

import toksmith

PACKAGE = Path(toksmith.__file__).parent
MODULES = {
    "cloudpickle", "code", "ctypes", "dill", "jinja2", "joblib", "marshal", "multiprocessing",
    "pickle", "runpy", "shelve", "subprocess", "xml", "yaml",
}  # fmt: skip
CALLS = {"__import__", "compile", "eval", "exec"}
METHODS = {"allow_pickle", "popen", "read_pickle", "startfile", "system", "unsafe_load"}

KNOWN = {
    ("_base/records.py", "exec"): "writes __init__ of a record, as dataclasses does",
    ("explorer/compare_page.py", "pickle"): "a result of a worker process that it started",
    ("explorer/jobs.py", "subprocess"): "starts toksmith's own worker, without a shell",
    ("explorer/train_page.py", "pickle"): "a result of a worker process that it started",
    ("explorer/worker.py", "pickle"): "is that worker",
    ("tokenfiles/formats/nanogpt.py", "pickle"): "meta.pkl: refuses every class and function",
    ("tokenfiles/mapped_pickle.py", "pickle"): "pickles open token files for worker processes",
    ("tokenfiles/token_files.py", "pickle"): "is unpickled by those",
}


def found_in(path: Path) -> Iterator[str]:
    """Yield the modules, calls and options in a file by which code could be executed."""
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            yield from (name for each in node.names if (name := each.name.split(".")[0]) in MODULES)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            if (name := node.module.split(".")[0]) in MODULES:
                yield name
        elif isinstance(node, ast.Call):
            if isinstance(node.func, ast.Name) and node.func.id in CALLS:
                yield node.func.id
            if isinstance(node.func, ast.Attribute) and node.func.attr in METHODS:
                yield node.func.attr
            if isinstance(node.func, ast.Attribute) and node.func.attr == "load":
                yield from _unsafe_load(node)


def _unsafe_load(call: ast.Call) -> Iterator[str]:
    assert isinstance(call.func, ast.Attribute)
    if isinstance(call.func.value, ast.Name) and call.func.value.id in ("np", "numpy", "torch"):
        options = {each.arg: ast.unparse(each.value) for each in call.keywords}
        if options.get("allow_pickle") != "False" and options.get("weights_only") != "True":
            yield f"{call.func.value.id}.load"


def test_each_place_that_could_execute_code_is_known() -> None:
    found = {
        (path.relative_to(PACKAGE).as_posix(), name)
        for path in PACKAGE.rglob("*.py")
        for name in found_in(path)
    }
    assert found == set(KNOWN)


def test_the_search_finds_them(tmp_path: Path) -> None:
    path = tmp_path / "a.py"
    path.write_text(
        "import pickle, os\nfrom jinja2 import Template\neval('1')\nos.system('ls')\n"
        "np.load('a')\nnp.load('a', allow_pickle=False)\ntorch.load('a')\n"
    )
    assert sorted(found_in(path)) == [
        "eval", "jinja2", "np.load", "pickle", "system", "torch.load"
    ]  # fmt: skip


def test_a_chat_template_is_only_text(tmp_path: Path) -> None:
    toksmith.get("toksmith-small").save(tmp_path / "model")
    marker = tmp_path / "executed"
    template = "{{ ''.__class__.__mro__[1].__subclasses__() }}{% set x = open('PATH', 'w') %}"
    template = template.replace("PATH", str(marker))
    config = tmp_path / "model" / "tokenizer_config.json"
    content = json.loads(config.read_text()) if config.exists() else {}
    config.write_text(json.dumps({**content, "chat_template": template}))
    tok = toksmith.load(tmp_path / "model")
    assert tok.chat_template == template
    assert tok.decode(tok.encode(template)) == template
    assert not marker.exists()

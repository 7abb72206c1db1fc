"""The command line: ``python -m benchmarks [load|encode|train|bars|training-bars|scale|all]``."""

from __future__ import annotations

import argparse
import json
from compileall import compile_dir
from dataclasses import asdict
from pathlib import Path
from tempfile import TemporaryDirectory

import toksmith
from benchmarks.adapters import ADAPTERS, installed
from benchmarks.bars import GOALS
from benchmarks.forms import FORMS
from benchmarks.machine import cores, description
from benchmarks.scale import SIZE, diverse_lines
from benchmarks.suites import SUITES, Setting
from benchmarks.tables import tables
from benchmarks.texts import FAMILY_OF, FILE_OF, SHARED, texts, vocabularies
from benchmarks.training import GOALS as TRAINING_GOALS
from benchmarks.training import KINDS

RESULTS = Path(__file__).parent / "results/local"
TRAINING = ("train", "training-bars", "scale")
# tokenizers takes minutes for what the others do in seconds; ask for it by name.
ENCODERS = ("toksmith", "tiktoken", "gigatoken", "sentencepiece", "tokie")


def main() -> None:
    """Measure, show the tables, and save all figures."""
    options = _options()
    # As pip does with what it installs: a checkout may have no byte code, and be told to keep none.
    compile_dir(Path(toksmith.__file__).parent, quiet=2)
    names = [options.suite]
    if options.suite == "all":
        names = [name for name in SUITES if not name.endswith("bars") and name != "scale"]
    if options.suite == "bars":
        options.texts = options.texts or list({goal.text: 0 for goal in GOALS if goal.text})
        options.vocabularies = options.vocabularies or list({goal.vocabulary: 0 for goal in GOALS})
    if options.suite == "training-bars":
        named = dict.fromkeys(text for goal in TRAINING_GOALS for text in goal.texts)
        options.texts = options.texts or list(named)
    rows = []
    with TemporaryDirectory() as folder:
        scratch = Path(folder)
        limit = 2_000_000 if options.quick else options.limit and int(options.limit * 1e6)
        if options.suite == "scale":
            size = limit or SIZE
            name = f"diverse, {size / 1e6:,.0f} MB"
            sources = {name: diverse_lines(size, options.data, scratch)}
        else:
            sources = texts(options.data, options.texts, limit, scratch)
        known = (
            vocabularies(options.vocab, options.vocabularies, next(iter(sources.values())), scratch)
            if not set(names) <= set(TRAINING)
            else {}
        )
        for name in names:
            libraries = options.libraries or (ADAPTERS if name in TRAINING else ENCODERS)
            setting = Setting(
                texts=sources,
                vocabularies=known,
                libraries=list(installed(libraries)),
                rounds=1 if options.quick else options.rounds,
                cores=cores(),
                forms=options.forms,
                models=options.models,
                vocab_size=2_048 if options.quick else options.vocab_size,
                scratch=scratch,
            )
            for row in SUITES[name](setting):
                rows.append(row)
                print(f"{row.kind} {' '.join(map(str, row.work.values()))}: done", flush=True)
    _save(options.out, rows)


def _save(out: Path | None, rows: list) -> None:
    about = description()
    name = about["date"].replace(":", "").replace("+0000", "Z")
    path = out or RESULTS / f"{name}.json"
    path.parent.mkdir(parents=True, exist_ok=True)
    report = {
        "machine": about,
        "versions": installed(list(ADAPTERS)),
        "rows": [asdict(row) for row in rows],
    }
    path.write_text(json.dumps(report, indent=1) + "\n")
    made = list(tables(rows))
    for table in made:
        table.show()
    head = [f"- {key}: {value}" for key, value in {**about, **report["versions"]}.items()]
    body = "\n\n".join(["\n".join(head), *(table.markdown() for table in made)])
    path.with_suffix(".md").write_text(body + "\n")
    print(f"saved in {path} and {path.with_suffix('.md')}")


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description="Measure one library a process, after comparing what they give.",
        epilog="example: python -m benchmarks encode --texts english --vocabularies cl100k_base; "
        "bars and training-bars measure what toksmith sets itself, or the part that options name",
    )
    add = parser.add_argument
    add("suite", choices=[*SUITES, "all"], nargs="?", default="all")
    add("--quick", action="store_true", help="one round on 2 MB: does everything run?")
    add("--rounds", type=int, default=5, help="fresh processes for each library and row")
    add("--libraries", nargs="+", choices=list(ADAPTERS), help="default: the fast ones")
    add("--data", type=Path, default=_there("corpus"), help="folder of .txt files")
    add("--texts", nargs="+", default=[], help="names of those files, without .txt")
    add("--limit", type=float, help="megabytes of each text to use")
    add("--vocab", type=Path, default=_there("vocab"), help="folder of vocabularies")
    known = [*FAMILY_OF, *FILE_OF]
    add("--vocabularies", nargs="+", default=[], choices=known, help="default: the first three")
    forms = [*FORMS, "load"]
    add("--forms", nargs="+", choices=forms, default=forms, help="what is asked for")
    add("--models", nargs="+", choices=list(KINDS), default=list(KINDS), help="what is trained")
    add("--vocab-size", type=int, help="tokens to train; default: what is usual for the model")
    add("--out", type=Path, help="the JSON file to write; the tables go beside it as .md")
    return parser.parse_args()


def _there(name: str) -> Path | None:
    return SHARED / name if (SHARED / name).is_dir() else None


if __name__ == "__main__":
    main()

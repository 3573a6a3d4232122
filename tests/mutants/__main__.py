"""The command: ``python -m tests.mutants [--part core] [--sample 400] [--seed 1]``."""

from __future__ import annotations

import argparse
import compileall
import difflib
import json
import os
import py_compile
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from tests.mutants.reach import Reach
from tests.mutants.sites import Mutant, mutants, sample
from tests.mutants.trial import prepare, rounds, survives

ROOT = Path(__file__).parent.parent.parent
#: What is copied: the source, the tests, and what they read.
COPIED = ("sandbox", "tests", "fixtures", "README.md", "Makefile", "pyproject.toml")
#: The tests that are run: those that start no process and no wheel, so that what they reach is seen.
TESTS = ("core", "time", "outside", "v3", "v2", "journal", "worlds", "advice", "faults", "control")
TESTS += ("contract", "properties", "powers", "fixture")


def main() -> None:
    """Try a sample of mutants and print those that no test notices."""
    told = _told()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder) if told.tree is None else told.tree
        if told.tree is None:
            _copied(tree)
        package = tree / "sandbox" / "reseller_sandbox"
        kept = told.reach or tree / "reach.json"
        if not kept.exists():
            tests = [str(Path("tests", name)) for name in TESTS]
            how = [sys.executable, "-m", "tests.mutants.reach", str(package), str(kept), *tests]
            paths = {"PYTHONPATH": f"{tree / 'sandbox'}:{tree}:{':'.join(filter(None, sys.path))}"}
            subprocess.run(how, cwd=tree, check=True, env={**os.environ, **paths})
        reach = Reach(**json.loads(kept.read_text()))
        chosen = sample(package, mutants(package, told.part), told.sample, told.seed)
        prepare(tree)
        if not survives(tree, next(rounds(reach.seconds, reach.seconds)), reach.seconds):
            sys.exit("some tests fail without any mutant")
        left = [
            one for number, one in enumerate(chosen, 1) if _try(one, tree, reach, f"{number}/{len(chosen)}")
        ]
    killed = len(chosen) - len(left)
    print(f"{killed} of {len(chosen)} killed: {100 * killed / max(len(chosen), 1):.1f} %")


def _told() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="make mutants ARGS=", description=main.__doc__)
    parser.add_argument("--part", default="core", help="a folder or file of the package")
    parser.add_argument("--sample", type=int, default=400, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same for the same seed")
    parser.add_argument("--tree", type=Path, help="a copy of the project to work in, instead of a new one")
    parser.add_argument("--reach", type=Path, help="where what the tests reach is kept for the next time")
    return parser.parse_args()


def _copied(tree: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tree / name)
    mode = (
        py_compile.PycInvalidationMode.CHECKED_HASH
    )  # a mutant may have the size and second of its original
    compileall.compile_dir(tree / "sandbox", quiet=2, invalidation_mode=mode)


def _try(mutant: Mutant, tree: Path, reach: Reach, number: str) -> bool:
    """Whether the mutant survives; says so, with the change it makes."""
    file = tree / "sandbox" / "reseller_sandbox" / mutant.file
    source = file.read_text("utf-8")
    changed = mutant.applied(source)
    began, ran = time.monotonic(), 0
    file.write_text(changed, "utf-8")
    try:
        for tests in rounds(reach.tests(mutant.file, mutant.line), reach.seconds):
            ran += len(tests)
            if not survives(tree, tests, reach.seconds):
                alive = False
                break
        else:
            alive = True
    finally:
        file.write_text(source, "utf-8")
    word = "SURVIVED" if alive else "killed"
    where = f"{mutant.file}:{mutant.line} {mutant.operator.removeprefix('core/')}"
    print(f"{number} {word} {where} ({ran} tests, {time.monotonic() - began:.0f} s)")
    if alive:
        lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), lineterm="", n=1)
        print("\n".join(list(lines)[2:]))
    sys.stdout.flush()
    return alive


if __name__ == "__main__":
    main()

"""The command: ``python -m tests.mutants [--part core] [--sample 400] [--seed 1]``."""

from __future__ import annotations

import argparse
import compileall
import difflib
import json
import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path
from py_compile import PycInvalidationMode

ROOT = Path(__file__).parents[2]

#: What is copied: the source, the tests, and what they read.
COPIED = ("sandbox", "tests", "fixtures", "README.md", "Makefile", "pyproject.toml")

#: The folders of tests that are run: those whose tests work in this process, so that what they reach is seen.
TESTS: tuple[str, ...] = (
    "core",
    "time",
    "outside",
    "v3",
    "v2",
    "journal",
    "worlds",
    "advice",
    "faults",
    "control",
)
TESTS += ("contract", "properties", "powers", "fixture")


def main() -> None:
    """Try a sample of mutants, and print those that no test notices."""
    told = _told()
    if told.tree is not None:
        _tried(told)
        return
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder).resolve()
        _copied(tree)
        paths = os.pathsep.join([str(tree / "sandbox"), str(tree), *filter(None, sys.path)])
        environment = {**os.environ, "PYTHONPATH": paths}
        kept = (told.reach or tree / "reach.json").resolve()
        if not kept.exists():
            how = ["tests.mutants.reach", str(tree / "sandbox" / "reseller_sandbox"), str(kept), *told.tests]
            subprocess.run([sys.executable, "-m", *how], cwd=tree, check=True, env=environment)
        again = [*sys.argv[1:], "--tree", str(tree), "--reach", str(kept)]
        environment["PYTHONDONTWRITEBYTECODE"] = "1"
        subprocess.run([sys.executable, "-m", "tests.mutants", *again], cwd=tree, check=True, env=environment)


def _told() -> argparse.Namespace:
    tests = [str(Path("tests", name)) for name in TESTS if (ROOT / "tests" / name).is_dir()]
    parser = argparse.ArgumentParser(prog="make mutants ARGS=", description=main.__doc__)
    parser.add_argument("--part", default="core", help="a folder or file of the package")
    parser.add_argument("--sample", type=int, default=400, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same for the same seed")
    parser.add_argument("--tests", nargs="+", default=tests, help="files or folders of tests to run")
    parser.add_argument("--reach", type=Path, help="a file that keeps what the tests reach for the next time")
    parser.add_argument("--tree", type=Path, help=argparse.SUPPRESS)
    return parser.parse_args()


def _copied(tree: Path) -> None:
    for name in COPIED:
        source = ROOT / name
        if source.is_dir():
            shutil.copytree(source, tree / name, ignore=shutil.ignore_patterns("__pycache__"))
        else:
            shutil.copy(source, tree / name)
    # By the time of its file alone, the bytecode of a mutant could pass for that of its original.
    compileall.compile_dir(tree / "sandbox", quiet=2, invalidation_mode=PycInvalidationMode.CHECKED_HASH)


def _tried(told: argparse.Namespace) -> None:
    """Try the sample in the copy that this process has begun in."""
    import pytest

    from tests.mutants.reach import Reach
    from tests.mutants.sites import Mutant, mutants, sample
    from tests.mutants.trial import OPTIONS, Trials

    package = told.tree / "sandbox" / "reseller_sandbox"
    chosen = sample(package, mutants(package, told.part), told.sample, told.seed)
    killed, output = 0, os.fdopen(os.dup(1), "w", buffering=1)

    def tell(mutant: Mutant, alive: bool, how: str) -> None:
        nonlocal killed
        killed += not alive
        where = f"{mutant.file}:{mutant.line} {mutant.operator.removeprefix('core/')}"
        print(f"{'SURVIVED' if alive else 'killed'} {where} ({how})", file=output)
        if alive:
            source = (package / mutant.file).read_text("utf-8")
            changed = mutant.applied(source).splitlines()
            lines = list(difflib.unified_diff(source.splitlines(), changed, lineterm="", n=1))
            print("\n".join(lines[2:]), file=output)

    reach = Reach(**json.loads(told.reach.read_text()))
    tests = list(dict.fromkeys(test.partition("::")[0] for test in reach.seconds))
    pytest.main([*OPTIONS, *tests], plugins=[Trials(package, reach, chosen, tell)])
    print(f"{killed} of {len(chosen)} killed: {100 * killed / max(len(chosen), 1):.1f} %", file=output)


if __name__ == "__main__":
    main()

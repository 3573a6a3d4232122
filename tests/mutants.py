"""Mutation testing of a sample: ``make mutants ARGS="--part persistence --sample 10"``.

A copy of the source is changed in one place at a time, by the operators of cosmic-ray and one more. The tests
of the part are run each time and, if they pass, all other tests. Changes that pass all tests are printed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from time import monotonic
from typing import Any

import parso
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
COPIED = ("sandbox", "tests", "fixtures", "README.md", "Makefile", "pyproject.toml", ".requirements.lock")

#: The tests of each part, beside the folder of its own name and the golden files. They run before the others.
TESTS = {
    "registry": ["units", "model", "time", "third_parties", "v3", "v2"],
    "v2": ["contract"],
    "v3": ["contract"],
    "faults": ["control"],
    "persistence": ["units"],
    "worlds": ["control", "journal", "fixture"],
    "control": ["worlds", "journal"],
}

#: Tests of files around the program.
AROUND = ("test_repository.py", "test_architecture.py", "deploy", "installed", "page", "benchmarks")

#: Operators that replace a value by something random, or compare by identity what is compared by value, or
#: the reverse.
LEFT_OUT = (
    *("Variable", "Eq_Is", "Lt_Is", "Gt_Is", "LtE_Is", "GtE_Is", "NotEq_Is", "NoOp"),
    *("Is_Eq", "Is_LtE", "Is_GtE", "IsNot_NotEq"),
)

#: Decorators and keywords that change no result: memory, speed, and ways to make a record that nothing uses.
ONLY_FASTER = ("cache", "lru_cache", "maxsize", "frozen", "gc", "slots", "kw_only")


class StatementRemover(Operator):  # type: ignore[misc,unused-ignore]
    """Replaces a statement by ``pass``."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Yield the place of a call, or of an assignment to an attribute or an item."""
        if node.type == "simple_stmt":
            first = node.children[0]
            target = first.children[0] if first.type == "expr_stmt" else first
            if target.type in ("atom_expr", "resource"):
                yield node.start_pos, node.end_pos

    def mutate(self, node: Any, _index: int) -> Any:
        """Return the statement without what it does."""
        passing = parso.parse("pass\n").children[0].children[0]
        passing.prefix = node.get_first_leaf().prefix
        node.children[0] = passing
        return node

    @classmethod
    def examples(cls) -> tuple[()]:
        """Return no examples."""
        return ()


def operators() -> Iterator[Any]:
    """Yield the operators in use."""
    yield StatementRemover()
    for name in operator_names():
        operator = get_operator(name)
        if not operator.arguments() and not any(word in name for word in LEFT_OUT):
            yield operator()


def places(file: Path) -> list[tuple[Any, int, int]]:
    """Return what can be changed: operators, each with the number of its occurrence and the line of that."""
    nodes = list(ast_nodes(get_ast_from_path(file)))
    return [
        (operator, occurrence, start[0])
        for operator in operators()
        for occurrence, start in enumerate(
            start for node in nodes for start, _ in operator.mutation_positions(node)
        )
    ]


def meaning(source: str) -> str:
    """Return a program without annotations, caches and hints for debuggers; raise SyntaxError."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(0)
        if isinstance(node, ast.FunctionDef):
            node.returns = None
        if isinstance(node, ast.FunctionDef | ast.ClassDef):
            node.decorator_list = [
                decorator for decorator in node.decorator_list if name_of(decorator) not in ONLY_FASTER
            ]
        if isinstance(node, ast.ClassDef | ast.Call):
            node.keywords = [keyword for keyword in node.keywords if keyword.arg not in ONLY_FASTER]
        if isinstance(node, ast.Assign) and name_of(node.targets[0]) == "__tracebackhide__":
            node.value = ast.Constant(0)
    return ast.dump(tree)


def name_of(node: ast.expr) -> str:
    """Return the last name of ``a.name`` or ``name(...)``."""
    called = node.func if isinstance(node, ast.Call) else node
    return ast.unparse(called).rpartition(".")[2]


def mutant(file: Path, dice: random.Random) -> tuple[int, str]:
    """Return the line of a change, and the source after it."""
    source, changes = file.read_text("utf-8"), places(file)
    for operator, occurrence, line in dice.sample(changes, len(changes)):
        with suppress(SyntaxError, AttributeError):  # a star before a parameter is no multiplication
            changed = str(mutate_code(source, operator, occurrence))
            if meaning(changed) != meaning(source):
                return line, changed
    return 0, source


def sample(part: Path, count: int, seed: int) -> Iterator[tuple[Path, int, str]]:
    """Yield mutants of a part, the same for the same seed: the files in turn."""
    dice = random.Random(seed)
    files = sorted(part.rglob("*.py")) if part.is_dir() else [part]
    mixed = dice.sample(files, len(files))
    mutants = ((file, *mutant(file, dice)) for file in mixed * count)
    return islice((mutated for mutated in mutants if mutated[1]), count)


def survives(tree: Path, tests: Iterable[str], most: float = 1800) -> bool:
    """Whether all tests pass in the copy within ``most`` seconds; a test that waits for a minute fails."""
    options = ["-x", "-q", "-n", "2", "-p", "no:cacheprovider", "--timeout", "60"]
    paths = {"PYTHONPATH": os.pathsep.join([str(tree / "sandbox"), str(tree)])}
    done = subprocess.Popen(
        [sys.executable, "-m", "pytest", *options, *tests],
        cwd=tree,
        env={**os.environ, **paths},
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        return done.wait(most) == 0
    except subprocess.TimeoutExpired:
        return False
    finally:
        with suppress(ProcessLookupError):  # a worker in an endless loop
            os.killpg(done.pid, signal.SIGKILL)
        done.wait()


def main() -> None:
    """Try a sample of mutants, and print those that no test notices."""
    parser = argparse.ArgumentParser(prog="make mutants ARGS=", description=__doc__)
    parser.add_argument("--part", default="registry", help="a folder or file of the package")
    parser.add_argument("--sample", type=int, default=10, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same for the same seed")
    parser.add_argument("--narrow", action="store_true", help="run only the tests of the part")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        package = tree / "sandbox" / "reseller_sandbox"
        top = asked.part.partition("/")[0]
        names = [
            tests
            for tests in dict.fromkeys([top, *TESTS.get(top, []), "golden"])
            if (tree / "tests" / tests).exists()
        ]
        first = [f"tests/{name}" for name in names]
        rest = ["tests", *(f"--ignore=tests/{name}" for name in (*names, *AROUND))]
        stages = [first] if asked.narrow else [first, rest]
        began = monotonic()
        assert all(survives(tree, tests) for tests in stages), "some tests fail without any mutant"
        most = 60 + 3 * (monotonic() - began)
        killed = 0
        for file, line, changed in sample(package / asked.part, asked.sample, asked.seed):
            source = file.read_text("utf-8")
            file.write_text(changed, "utf-8")
            alive = all(survives(tree, tests, most) for tests in stages)
            file.write_text(source, "utf-8")
            killed += not alive
            print(f"{'SURVIVED' if alive else 'killed'} {file.relative_to(package)}:{line}", flush=True)
            if alive:
                lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), lineterm="", n=1)
                print("\n".join(list(lines)[2:]), flush=True)
        print(f"{killed} of {asked.sample} killed")


if __name__ == "__main__":
    main()

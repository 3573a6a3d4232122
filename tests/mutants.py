"""Mutation testing of a sample: ``make mutants ARGS="--part keeping --sample 10"``.

A copy of the source is changed in one place at a time, by the operators of cosmic-ray and one more. The tests
of the part are run each time. What no test notices is printed.
"""

from __future__ import annotations

import argparse
import ast
import difflib
import os
import random
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path
from typing import Any

import parso
from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.operators.operator import Operator
from cosmic_ray.plugins import get_operator, operator_names

ROOT = Path(__file__).parents[1]
COPIED = ("sandbox", "tests", "fixtures", "README.md", "Makefile", "pyproject.toml", ".requirements.lock")

#: The tests of each part, beside the folder of its own name and the golden files.
TESTS = {
    "core": ["units", "model", "time", "outside", "v3", "v2"],
    "v2": ["model", "contract"],
    "v3": ["model", "contract"],
    "faults": ["powers", "control"],
    "worlds": ["powers", "control", "journal"],
    "powers": ["control", "worlds", "journal"],
    "tools": [],
}

#: Operators that replace a value by something random, or compare by identity what is compared by value.
LEFT_OUT = ("Variable", "Eq_Is", "Lt_Is", "Gt_Is", "LtE_Is", "GtE_Is", "NotEq_Is", "NoOp")


class StatementRemover(Operator):  # type: ignore[misc,unused-ignore]
    """Replaces a statement by ``pass``."""

    def mutation_positions(self, node: Any) -> Iterator[Any]:
        """Yield the place of a call, or of an assignment to an attribute or an item."""
        if node.type == "simple_stmt":
            first = node.children[0]
            target = first.children[0] if first.type == "expr_stmt" else first
            if target.type in ("atom_expr", "power"):
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
    """Return a program without its annotations; raise SyntaxError."""
    tree = ast.parse(source)
    for node in ast.walk(tree):
        if isinstance(node, ast.arg | ast.AnnAssign):
            node.annotation = ast.Constant(0)
        elif isinstance(node, ast.FunctionDef):
            node.returns = None
    return ast.dump(tree)


def mutant(file: Path, dice: random.Random) -> tuple[int, str]:
    """Return the line of a change, and the source after it."""
    source, found = file.read_text("utf-8"), places(file)
    for operator, occurrence, line in dice.sample(found, len(found)):
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
    found = ((file, *mutant(file, dice)) for file in mixed * count)
    return islice((one for one in found if one[1]), count)


def survives(tree: Path, tests: list[str]) -> bool:
    """Whether all tests pass in the copy."""
    command = [sys.executable, "-m", "pytest", "-x", "-q", "-n", "2", "-p", "no:cacheprovider", *tests]
    paths = {"PYTHONPATH": os.pathsep.join([str(tree / "sandbox"), str(tree)])}
    done = subprocess.run(
        command, cwd=tree, env={**os.environ, **paths}, capture_output=True, timeout=900, check=False
    )
    return done.returncode == 0


def main() -> None:
    """Try a sample of mutants, and print those that no test notices."""
    parser = argparse.ArgumentParser(prog="make mutants ARGS=", description=__doc__)
    parser.add_argument("--part", default="core", help="a folder or file of the package")
    parser.add_argument("--sample", type=int, default=10, help="how many mutants are tried")
    parser.add_argument("--seed", type=int, default=1, help="which ones: the same for the same seed")
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        tree = Path(folder)
        for name in COPIED:
            copy = shutil.copytree if (ROOT / name).is_dir() else shutil.copy
            copy(ROOT / name, tree / name)
        package = tree / "sandbox" / "reseller_sandbox"
        top = asked.part.partition("/")[0]
        names = dict.fromkeys([top, *TESTS.get(top, []), "golden"])
        tests = [f"tests/{name}" for name in names if (tree / "tests" / name).is_dir()]
        assert survives(tree, tests), "some tests fail without any mutant"
        killed = 0
        for file, line, changed in sample(package / asked.part, asked.sample, asked.seed):
            source = file.read_text("utf-8")
            file.write_text(changed, "utf-8")
            alive = survives(tree, tests)
            file.write_text(source, "utf-8")
            killed += not alive
            print(f"{'SURVIVED' if alive else 'killed'} {file.relative_to(package)}:{line}", flush=True)
            if alive:
                lines = difflib.unified_diff(source.splitlines(), changed.splitlines(), lineterm="", n=1)
                print("\n".join(list(lines)[2:]), flush=True)
        print(f"{killed} of {asked.sample} killed")


if __name__ == "__main__":
    main()

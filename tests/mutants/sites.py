"""Where the source can be changed: every mutation that cosmic-ray knows, without those that mean nothing."""

from __future__ import annotations

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import islice
from pathlib import Path

from cosmic_ray.ast import ast_nodes, get_ast_from_path
from cosmic_ray.mutating import mutate_code
from cosmic_ray.plugins import get_operator, operator_names

#: These replace a variable by something random, or compare by identity what is compared by value.
_LEFT_OUT = ("Variable", "Eq_Is", "Lt_Is", "Gt_Is", "LtE_Is", "GtE_Is", "NotEq_Is", "NoOp")

#: What these decorators say changes the speed or the form of a class, and nothing that it does.
_FORMAL = ("cache", "dataclass", "overload", "runtime_checkable", "lru_cache")


@dataclass(frozen=True)
class Mutant:
    """One change: the ``occurrence``-th of what ``operator`` can change in a file of the package."""

    file: str
    operator: str
    occurrence: int
    line: int
    column: int

    def applied(self, source: str) -> str:
        """Return the source with the change."""
        return str(mutate_code(source, get_operator(self.operator)(), self.occurrence))


def mutants(package: Path, part: str) -> list[Mutant]:
    """Return every mutant of the files in a part of ``package``, or of the one file that ``part`` is."""
    at = package / part
    files = [at] if at.is_file() else sorted(at.rglob("*.py"))
    return [mutant for file in files for mutant in _of_file(file, str(file.relative_to(package)))]


def _of_file(file: Path, name: str) -> Iterator[Mutant]:
    skipped = set(_meaningless(ast.parse(file.read_text("utf-8"))))
    nodes = list(ast_nodes(get_ast_from_path(file)))
    for operator in operator_names():
        made = get_operator(operator)
        if made.arguments() or any(word in operator for word in _LEFT_OUT):
            continue
        places = (start for node in nodes for start, _ in made().mutation_positions(node))
        for occurrence, (line, column) in enumerate(places):
            if (line, column) not in skipped:
                yield Mutant(name, operator, occurrence, line, column)


def _meaningless(tree: ast.Module) -> Iterator[tuple[int, int]]:
    """Yield the places within annotations, aliases of types and formal decorators."""
    for node in ast.walk(tree):
        for part in _formal_parts(node):
            first, last = (part.lineno, part.col_offset), (part.end_lineno or 0, part.end_col_offset or 0)
            for line in range(first[0], last[0] + 1):
                begin = first[1] - 1 if line == first[0] else 0  # the @ of a decorator stands before it
                end = last[1] if line == last[0] else 200
                yield from ((line, column) for column in range(begin, end + 1))


def _formal_parts(node: ast.AST) -> list[ast.expr]:
    if isinstance(node, ast.arg):
        return [node.annotation] if node.annotation is not None else []
    if isinstance(node, ast.AnnAssign):
        alias = isinstance(node.annotation, ast.Name) and node.annotation.id == "TypeAlias"
        return [node.annotation, *([node.value] if alias and node.value is not None else [])]
    if isinstance(node, ast.Subscript) and ast.unparse(node.value) in ("Annotated", "Callable", "Literal"):
        return [node]
    if isinstance(node, ast.FunctionDef | ast.ClassDef):
        named = [one for one in node.decorator_list if ast.unparse(one).split("(")[0] in _FORMAL]
        returns = [node.returns] if isinstance(node, ast.FunctionDef) and node.returns is not None else []
        return [*named, *returns]
    return []


def sample(package: Path, found: list[Mutant], count: int, seed: int) -> list[Mutant]:
    """Return ``count`` mutants, the same for the same seed: one of each place, and one of each file at least.

    Many operators change one place in like ways, so that a place is drawn first, and then what is done there.
    """
    dice = random.Random(seed)
    by_place: dict[tuple[str, int, int], list[Mutant]] = {}
    for mutant in dice.sample(found, len(found)):
        by_place.setdefault((mutant.file, mutant.line, mutant.column), []).append(mutant)
    drawn = dice.sample(sorted(by_place), len(by_place))
    first = {place[0]: place for place in drawn}
    places = [*first.values(), *(place for place in drawn if first[place[0]] != place)]
    sound = (next(filter(partial(_is_sound, package), by_place[place]), None) for place in places)
    return list(islice(filter(None, sound), count))


def _is_sound(package: Path, mutant: Mutant) -> bool:
    """Whether the change can be made and leaves Python: a star that marks parameters is no multiplication."""
    try:
        ast.parse(mutant.applied((package / mutant.file).read_text("utf-8")))
    except (SyntaxError, AttributeError):  # the latter of cosmic-ray itself, at an exception with a dot
        return False
    return True

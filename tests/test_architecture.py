"""How the project is built: which part may know of which, who reads the clock, and what is kept where."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from functools import cache
from pathlib import Path

import reseller_sandbox

ROOT = Path(reseller_sandbox.__file__).parent
FILES = sorted(ROOT.rglob("*.py"))

#: The parts from the bottom up. A part may import what stands below it, and nothing beside or above it.
LAYERS: tuple[tuple[str, ...], ...] = (
    ("core",),
    ("server",),
    ("faults",),
    ("fixture",),
    ("settings",),
    ("worlds",),
    ("advice", "coverage"),
    ("capsule",),
    ("powers",),
    ("web",),
    ("v3", "v2", "control"),
    ("config_sources",),
    ("remote",),
    ("clients",),
)
#: What else may be imported from outside: by the core little, by the wire's parts what they are made of.
CORE_MAY = {"rpds", "msgspec", "dateutil", "idna", "re2"}


def part_of(file: Path) -> str:
    return file.relative_to(ROOT).parts[0].removesuffix(".py")


@cache
def nodes(file: Path) -> list[ast.AST]:
    """Every node of a file's syntax tree."""
    return list(ast.walk(ast.parse(file.read_text("utf-8"))))


def imports(file: Path) -> Iterator[str]:
    """The dotted names that a file imports, wherever in it."""
    for node in nodes(file):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file} imports relatively"
            assert node.module is not None
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def height(part: str) -> int:
    """How high a part stands; what is in no layer stands above all."""
    return next((at for at, parts in enumerate(LAYERS) if part in parts), len(LAYERS))


def of_each_file(rule: Callable[[Path], None]) -> Callable[[], None]:
    """Make a test of a rule for a file: that no file breaks it; it tells each that does."""

    def test() -> None:
        broken = []
        for file in FILES:
            try:
                rule(file)
            except AssertionError as problem:
                broken.append(f"{file.relative_to(ROOT)}: {problem}")
        assert not broken, "\n".join(broken)

    test.__name__, test.__doc__ = rule.__name__, rule.__doc__
    return test


@of_each_file
def test_imports_point_downwards(file: Path) -> None:
    """Down, or within the part."""
    part = part_of(file)
    for name in imports(file):
        pieces = name.split(".")
        if pieces[0] != "reseller_sandbox" or len(pieces) < 2:
            continue
        other = pieces[1]
        if other == part or height(part) == len(LAYERS):
            continue
        assert height(other) < height(part), f"{part} imports {name}"


@of_each_file
def test_the_core_knows_nothing_of_the_wire(file: Path) -> None:
    """It imports the standard library and small packages, and no word of HTTP, Flask or marshmallow."""
    if part_of(file) != "core":
        return
    outside = (
        {name.split(".")[0] for name in imports(file)} - {"reseller_sandbox"} - set(sys.stdlib_module_names)
    )
    assert outside <= CORE_MAY
    assert not {"http", "urllib", "socket", "json", "flask", "asyncio"} & {
        n.split(".")[0] for n in imports(file)
    }


#: Names by which the machine's time or chance would come in.
CLOCKS = {"now", "utcnow", "today", "time", "time_ns", "monotonic", "monotonic_ns", "perf_counter"}
CHANCE = {"random", "uuid", "secrets"}


@of_each_file
def test_only_the_clock_reads_the_time(file: Path) -> None:
    """core/clock.py alone asks the machine what time it is, and for chance."""
    if file == ROOT / "core" / "clock.py":
        return
    assert not CHANCE & {name.split(".")[0] for name in imports(file)}
    for node in nodes(file):
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
            source = node.value.id
            assert not (source in ("datetime", "date", "time") and node.attr in CLOCKS), ast.unparse(node)
            assert not (source == "os" and node.attr == "urandom"), ast.unparse(node)
    assert not {"time.time", "time.monotonic", "time.perf_counter"} & set(imports(file))

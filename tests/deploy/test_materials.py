"""The pins in the wheel."""

from __future__ import annotations

import re
from importlib.metadata import requires
from pathlib import Path

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

import reseller_sandbox

ROOT = Path(__file__).parents[2]
PINS = Path(reseller_sandbox.__file__).parent / "deploy" / "requirements.txt"

#: A package at its version, for which systems, and with which hashes.
_ROW = re.compile(r"^([\w.-]+)==(\S+)( ; [^\\\n]+)?((?: \\\n    --hash=sha256:[0-9a-f]{64})+)$", re.MULTILINE)


def rows(file: Path) -> dict[str, tuple[str, ...]]:
    return {found[1]: found.groups() for found in _ROW.finditer(file.read_text("utf-8"))}


def test_the_pins_of_the_wheel_equal_those_of_the_project() -> None:
    assert PINS.read_text("utf-8").count("==") == len(rows(PINS))
    assert rows(PINS).items() <= rows(ROOT / ".requirements.lock").items()


def test_the_build_of_a_checkout_has_its_dependencies() -> None:
    """The Makefile names hatchling and editables, and their dependencies beside the pins of the wheel."""
    (build,) = re.findall(r"^BUILD := (.*)", (ROOT / "Makefile").read_text("utf-8"), re.MULTILINE)
    needed, left = set[str](), ["hatchling", "editables"]
    while left:
        needed.add(name := canonicalize_name(left.pop()))
        wanted = (Requirement(one) for one in requires(name) or ())
        left += [one.name for one in wanted if one.marker is None or one.marker.evaluate({"extra": ""})]
    assert build == "|".join(sorted(needed - rows(PINS).keys()))

"""What there is in the powers, read from their source, so that a list of commands loads no power."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from reseller_sandbox.core.signatures import docstring

#: The class of a power, to its end.
_POWER = re.compile(r"^class (\w+)\((?:Power|Keyed\[\w+\])\):\n(?:[ \t].*\n|\n)+", re.MULTILINE)

#: What declares a method as an operation.
_DECLARES = {"look", "act", "stream"}


def name_of(class_name: str) -> str:
    """Return the name of a power in paths and commands."""
    return re.sub(r"(?<!^)(?=[A-Z])", "_", class_name).lower()


@dataclass(frozen=True)
class PowerTold:
    """What the source says of a power; ``load`` loads its class."""

    module: str
    class_name: str
    source: str

    @cached_property
    def _class(self) -> ast.ClassDef:
        (found,) = ast.parse(self.source).body
        assert isinstance(found, ast.ClassDef)
        return found

    @property
    def docstring(self) -> str:
        """Return the docstring of the power."""
        return ast.get_docstring(self._class) or ""

    @property
    def operations(self) -> Mapping[str, str]:
        """Return the docstring of each operation, by its name; load the power where not each is a method."""
        if any(isinstance(one, ast.Assign) for one in self._class.body):
            return {one.name: docstring(one.body) for one in self.load().operations()}
        return {
            one.name.removesuffix("_"): ast.get_docstring(one) or ""
            for one in self._class.body
            if isinstance(one, ast.FunctionDef)
            and not _DECLARES.isdisjoint(ast.unparse(by).partition("(")[0] for by in one.decorator_list)
        }

    def load(self) -> Any:
        """Return the class of the power."""
        return getattr(import_module(self.module), self.class_name)


@cache
def powers_told() -> Mapping[str, PowerTold]:
    """Return what the source says of each power, by the power's name."""
    return {name_of(one.class_name): one for one in _found()}


def _found() -> Iterator[PowerTold]:
    package = __name__.rpartition(".")[0]
    for file in sorted(Path(__file__).parent.glob("*.py")):
        for found in _POWER.finditer(file.read_text("utf-8")):
            yield PowerTold(f"{package}.{file.stem}", found[1], found[0])

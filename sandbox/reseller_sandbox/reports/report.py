"""The coverage report as one value, the source of its forms.

The JSON form has a version.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from msgspec import to_builtins

from reseller_sandbox.app_factory import contract
from reseller_sandbox.control.contract import matching_items
from reseller_sandbox.coverage import figures, gaps
from reseller_sandbox.coverage.figures import AreaCovered, Figure, ItemCovered
from reseller_sandbox.coverage.gaps import Gap
from reseller_sandbox.coverage.items import COUNTS
from reseller_sandbox.coverage.marks import Key, Mark

#: The version of the JSON form. An incompatible change increments it.
VERSION = 1

#: The source of the marks: the tests of a run, or requests to a server.
By = Literal["tests", "requests"]


@dataclass(frozen=True)
class Report:
    """The coverage that ``marks`` count, of the operations that match the pattern ``operation``.

    Refuse with ``invalid_parameter`` if no operation matches.
    """

    marks: Mapping[Key, Mark] = field(repr=False)
    by: By
    operation: str | None = None

    @cached_property
    def items(self) -> list[ItemCovered]:
        """Every item, area by area."""
        return figures.covered(matching_items(contract(), self.operation), self.marks)

    @cached_property
    def areas(self) -> list[AreaCovered]:
        """The figures of each area."""
        return figures.areas(self.items)

    @cached_property
    def figures(self) -> list[Figure]:
        """The coverage of the used operations, of their errors, and of the whole contract."""
        return figures.figures(self.items)

    @cached_property
    def missing(self) -> list[Gap]:
        """The gaps, the most important first."""
        return gaps.missing(self.items, contract())

    @property
    def covered(self) -> int:
        """The number of exercised items."""
        return sum(area.covered for area in self.areas)

    @property
    def percentage(self) -> float:
        """The percentage of exercised items."""
        return figures.percentage(self.covered, len(self.items))

    def json(self) -> dict[str, Any]:
        """Return the report as JSON values. The manual documents each key."""
        return {
            "version": VERSION,
            "by": self.by,
            "operation": self.operation,
            "percentage": self.percentage,
            "covered": self.covered,
            "total": len(self.items),
            "counts": COUNTS,
            "figures": to_builtins(self.figures),
            "areas": to_builtins(self.areas),
            "items": to_builtins(self.items),
            "missing": to_builtins(self.missing),
        }

"""The report on coverage as one value, of which its forms are made; as JSON it has a version."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal

from msgspec import to_builtins

from reseller_sandbox.app_factory import contract
from reseller_sandbox.control.contract import items_of
from reseller_sandbox.coverage import figures, gaps
from reseller_sandbox.coverage.figures import AreaCovered, ItemCovered
from reseller_sandbox.coverage.gaps import Gap
from reseller_sandbox.coverage.items import COUNTS
from reseller_sandbox.coverage.marks import Key, Mark

#: Of the JSON; a form that is not read as this one is gets another.
VERSION = 1

#: Who has exercised an item: the tests of a run, or requests to a server.
By = Literal["tests", "requests"]


@dataclass(frozen=True)
class Report:
    """What ``marks`` have exercised of the operations like ``operation``, or of all.

    Refuse with ``invalid_parameter`` where no operation is like that.
    """

    marks: Mapping[Key, Mark] = field(repr=False)
    by: By
    operation: str | None = None

    @cached_property
    def items(self) -> list[ItemCovered]:
        """Every item, area by area."""
        return figures.covered(items_of(contract(), self.operation), self.marks)

    @cached_property
    def areas(self) -> list[AreaCovered]:
        """The figures of each area."""
        return figures.areas(self.items)

    @cached_property
    def missing(self) -> list[Gap]:
        """What has not been exercised, the most telling first."""
        return gaps.missing(self.items, contract())

    @property
    def covered(self) -> int:
        """How many items have been exercised."""
        return sum(one.covered for one in self.areas)

    @property
    def percentage(self) -> float:
        """The share of all items."""
        return figures.percentage(self.covered, len(self.items))

    def json(self) -> dict[str, Any]:
        """Return it as JSON values; the manual says what each is."""
        return {
            "version": VERSION,
            "by": self.by,
            "operation": self.operation,
            "percentage": self.percentage,
            "covered": self.covered,
            "total": len(self.items),
            "counts": COUNTS,
            "areas": [to_builtins(one) for one in self.areas],
            "items": [to_builtins(one) for one in self.items],
            "missing": [to_builtins(one) for one in self.missing],
        }

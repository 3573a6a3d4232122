"""The report as a page: one file that needs no network, to look at in a browser."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from jinja2 import Environment, PackageLoader, StrictUndefined

from reseller_sandbox.core.lifecycle import STAGES
from reseller_sandbox.coverage.figures import ItemCovered
from reseller_sandbox.coverage.gaps import Gap
from reseller_sandbox.coverage.items import COUNTS
from reseller_sandbox.faults.kinds import KINDS
from reseller_sandbox.reports import recipes
from reseller_sandbox.reports.report import Report

#: How many of the gaps are told at the top, and of those who exercised an item.
_GAPS, _SEEN_BY = 12, 12


@dataclass(frozen=True)
class Row:
    """An operation: the item that it is, those of its stages and its errors, and its gaps by item."""

    item: ItemCovered
    stages: Mapping[str, ItemCovered]
    errors: Sequence[ItemCovered]

    @property
    def met(self) -> int:
        """How many of its errors were told to a client."""
        return sum(one.covered for one in self.errors)

    @property
    def parts(self) -> Sequence[ItemCovered]:
        """What belongs to it: its errors, and it at its stages."""
        return [*self.errors, *self.stages.values()]


def page(report: Report) -> str:
    """Return the page as HTML."""
    loader = PackageLoader("reseller_sandbox.reports", "")
    environment = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True)
    environment.filters |= {"shell": recipes.shell, "python": recipes.python, "injection": recipes.injection}
    template = environment.get_template("page.html")
    gaps: dict[tuple[str, str], Gap] = {(one.area, one.item): one for one in report.missing}
    return template.render(
        report=report,
        counts=COUNTS,
        rows=_rows(report.items),
        of={area.area: [one for one in report.items if one.area == area.area] for area in report.areas},
        faults=_faults(report.items),
        phases=("before", "after"),
        stages=[stage.value for stage in STAGES],
        gaps=gaps,
        telling=report.missing[:_GAPS],
        most=_SEEN_BY,
    )


def _rows(found: Sequence[ItemCovered]) -> dict[str, list[Row]]:
    """Return the rows of each interface."""
    by_operation: defaultdict[str, dict[str, Any]] = defaultdict(lambda: {"stages": {}, "errors": []})
    for one in found:
        if one.operation is not None and one.area == "stages":
            by_operation[one.operation]["stages"][one.item.rpartition(" ")[2]] = one
        elif one.operation is not None and one.area == "errors":
            by_operation[one.operation]["errors"].append(one)
    rows: dict[str, list[Row]] = {}
    for one in found:
        if one.area == "operations":
            rows.setdefault(one.item.partition(".")[0], []).append(Row(one, **by_operation[one.item]))
    return rows


def _faults(found: Sequence[ItemCovered]) -> dict[str, dict[str, ItemCovered]]:
    """Return the items of each kind of fault by phase."""
    by_name = {one.item: one for one in found if one.area == "faults"}
    return {
        kind.name: {phase: by_name[f"{kind.name} {phase}"] for phase in kind.phases}
        for kind in KINDS.values()
    }

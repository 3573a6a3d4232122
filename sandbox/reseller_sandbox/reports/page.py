"""The coverage report as one HTML file that needs no network."""

from __future__ import annotations

from itertools import groupby

from reseller_sandbox.coverage.items import AREAS, COUNTS
from reseller_sandbox.registry.lifecycle import STAGES
from reseller_sandbox.reports import recipes
from reseller_sandbox.reports.html import rendered
from reseller_sandbox.reports.report import Report

#: How many gaps are listed at the top, and how many requests or tests for each item.
_GAPS, _SEEN_BY = 12, 12


def page(report: Report) -> str:
    """Return the page as HTML."""
    filters = {"shell": recipes.shell, "python": recipes.python, "injection": recipes.injection}
    of = {area: {item.item: item for item in report.items if item.area == area} for area in AREAS}
    interfaces = groupby(of["operations"].values(), key=lambda item: item.item.partition(".")[0])
    return rendered(
        "page.html",
        filters,
        report=report,
        counts=COUNTS,
        of=of,
        interfaces=[list(own) for _, own in interfaces],
        stages=[stage.value for stage in STAGES],
        gaps={(item.area, item.item): item for item in report.missing},
        important=report.missing[:_GAPS],
        most=_SEEN_BY,
    )

"""The coverage report in lines for a terminal: figures, and the important gaps."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from msgspec.structs import replace

from reseller_sandbox.coverage.gaps import Gap
from reseller_sandbox.reports import recipes
from reseller_sandbox.reports.report import Report

#: How many gaps are listed, and the width of a full bar.
_GAPS, _BAR = 7, 20


def lines(report: Report) -> Iterator[str]:
    """Yield the figures of each area and in total, and the gaps with their recipes.

    For an error, the recipe injects it by a fault, after a line on how the error occurs without the fault.
    """
    for area in report.areas:
        yield _figures(area.area, area.covered, area.total, area.percentage)
    for figure in report.figures:
        of = f" of {report.operation}" if report.operation is not None and figure.name == "all" else ""
        yield _figures(f"{figure.name}{of}", figure.covered, figure.total, figure.percentage)
    if report.missing:
        yield ""
        yield f"missing: {len(report.missing)}. The most important:"
        for gap in report.missing[:_GAPS]:
            yield from _gap(gap, recipes.python if report.by == "tests" else recipes.shell)


def _figures(name: str, covered: int, total: int, percentage: float) -> str:
    bar = "#" * int(percentage * _BAR / 100)
    return f"{name:12} {covered:4} of {total:4} {percentage:6.1f} %  {bar:.<{_BAR}}"


def _gap(gap: Gap, recipe: Callable[[Gap], list[str]]) -> Iterator[str]:
    yield f"  {gap.area:12} {gap.item}"
    if gap.inject is not None:
        texts = [gap.how, *recipe(replace(gap, needs=(*gap.needs, gap.inject)))]
    else:
        texts = recipe(gap) or [gap.how]
    yield from (f"      {line}" for line in texts)  # never wrapped, because they are to be pasted

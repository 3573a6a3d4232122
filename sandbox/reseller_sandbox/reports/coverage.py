"""The coverage report: as JSON, as lines for a terminal, and as one HTML page."""

from __future__ import annotations

import json
import shlex
from collections.abc import Callable, Iterator, Mapping
from itertools import groupby
from typing import Any, Literal, Self

from msgspec import Struct, to_builtins
from msgspec.structs import replace

from reseller_sandbox.app_factory import contract
from reseller_sandbox.control import calls
from reseller_sandbox.control.catalogue import RESOURCES
from reseller_sandbox.control.contract import matching_items
from reseller_sandbox.control.resource import operations_by_id
from reseller_sandbox.coverage import gaps
from reseller_sandbox.coverage.figures import AreaCovered, Figure, ItemCovered, Key, Mark, covered, summary
from reseller_sandbox.coverage.gaps import Gap, RequestToMake, Step
from reseller_sandbox.coverage.items import AREAS
from reseller_sandbox.registry.lifecycle import STAGES
from reseller_sandbox.reports.html import rendered

#: The version of the JSON form. An incompatible change increments it.
VERSION = 1

#: Number of gaps in the text report, and the width of a full bar in characters.
_GAPS, _BAR = 7, 20

#: Number of gaps at the top of the page, and maximum number of requests or tests for each item.
_GAPS_OF_PAGE, _SEEN_BY = 12, 12


#: The control operations that fill gaps, by id.
_OPERATIONS = operations_by_id(RESOURCES.values())


class Report(Struct, frozen=True, kw_only=True):
    """The coverage report with its items and gaps. The fields have the order of the JSON form.

    ``by`` is the source of the counts: the tests of a run, or the requests to a server.
    """

    version: int
    by: Literal["tests", "requests"]
    operation: str | None
    percentage: float
    covered: int
    total: int
    counts: str
    figures: tuple[Figure, ...]
    areas: tuple[AreaCovered, ...]
    items: list[ItemCovered]
    missing: list[Gap]

    @classmethod
    def of(
        cls, marks: Mapping[Key, Mark], by: Literal["tests", "requests"], operation: str | None = None
    ) -> Self:
        """Return the coverage report on the operations that match the pattern ``operation``.

        Refuse with ``invalid_parameter`` if no operation matches.
        """
        items = covered(matching_items(contract(), operation), marks)
        parts = {**summary(items), "items": items, "missing": gaps.missing(items, contract())}
        return cls(version=VERSION, by=by, operation=operation, **parts)

    def json(self) -> dict[str, Any]:
        """Return the report as JSON values."""
        report: dict[str, object] = to_builtins(self)
        return report


def lines(report: Report) -> Iterator[str]:
    """Yield the figures in total and by area. Then yield the most important gaps, with code that fills them.

    For an error, the code injects the error. A line before it describes how a request causes the error.
    """
    for area in report.areas:
        yield _figures(area.area, area)
    for figure in report.figures:
        of = f" of {report.operation}" if report.operation is not None and figure.name == "all" else ""
        yield _figures(f"{figure.name}{of}", figure)
    if report.missing:
        yield ""
        yield f"missing: {len(report.missing)}. The most important:"
        for gap in report.missing[:_GAPS]:
            yield from _gap(gap, python if report.by == "tests" else shell)


def _figures(name: str, share: AreaCovered | Figure) -> str:
    bar = "#" * int(share.percentage * _BAR / 100)
    return f"{name:12} {share.covered:4} of {share.total:4} {share.percentage:6.1f} %  {bar:.<{_BAR}}"


def _gap(gap: Gap, recipe: Callable[[Gap], list[str]]) -> Iterator[str]:
    yield f"  {gap.area:12} {gap.item}"
    if gap.inject is not None:
        texts = [gap.how, *recipe(replace(gap, needs=(*gap.needs, gap.inject)))]
    else:
        texts = recipe(gap) or [gap.how]
    yield from (f"      {line}" for line in texts)  # not wrapped, so that users can copy a command


def page(report: Report) -> str:
    """Return the coverage report as an HTML page."""
    filters = {"shell": shell, "python": python, "injection": injection}
    of = {area: {item.item: item for item in report.items if item.area == area} for area in AREAS}
    interfaces = groupby(of["operations"].values(), key=lambda item: item.item.partition(".")[0])
    return rendered(
        "page.html",
        filters,
        report=report,
        of=of,
        interfaces=[list(own) for _, own in interfaces],
        stages=[stage.value for stage in STAGES],
        gaps={(item.area, item.item): item for item in report.missing},
        important=report.missing[:_GAPS_OF_PAGE],
        most=_SEEN_BY,
    )


def shell(gap: Gap) -> list[str]:
    """Return the shell commands that fill a gap on a server with the packaged fixture."""
    steps = [calls.command(_OPERATIONS[step.call], step.parameters) for step in gap.needs]
    return [*steps, *([_curl(gap.request)] if gap.request is not None else [])]


def python(gap: Gap) -> list[str]:
    """Return the lines of a Python test that fill a gap, with the pytest fixture ``reseller_sandbox``."""
    steps = [_called(step) for step in gap.needs]
    request = gap.request
    if request is None:
        return steps
    body = f", json={request.body!r}" if request.body is not None else ""
    return [*steps, f"reseller_sandbox.client().{request.method.lower()}({request.path!r}{body})"]


def injection(gap: Gap) -> str:
    """Return the line of Python that injects the error of a gap, an empty string for other gaps."""
    return _called(gap.inject) if gap.inject is not None else ""


def _called(step: Step) -> str:
    return calls.python(_OPERATIONS[step.call], step.parameters, "reseller_sandbox")


def _curl(request: RequestToMake) -> str:
    data = f" --data {shlex.quote(json.dumps(request.body))}" if request.body is not None else ""
    return f'eval "$(reseller-sandbox sign --curl {request.method} {request.path}{data})"'
